import Foundation
import LocalDataAPI
import Synchronization

@testable import HostGround
@testable import HostMigration
@testable import HostPlugins
@testable import HostStores
@testable import HostSync
@testable import HostTransfer
@testable import LocalDataHost

/// A group with real keys, a real log of members and real seals. The log passes between devices outside the simulated
/// network. Keys come from the schedule's seed, so that it can be repeated.
final class SealedGroup: SimulatedGroup {
    private static let provider = Result { try GroupProvider.openssl.provider() }

    private var device: TestDevice
    private var sealer: RecordSealer

    /// The group of a new device, which a member admits; `nil` founds a new one on this network.
    init(joining group: SealedGroup?, _ network: SimulatedNetwork) throws {
        if let group {
            device = try group.device.admit("device")
        } else {
            let random = Mutex(network.random)
            let crypto = try GroupCrypto(Self.provider.get()) { memory in
                random.withLock { random in
                    for index in memory.indices { memory[index] = UInt8(truncatingIfNeeded: random.next()) }
                }
            }
            device = try TestDevice(creating: "first", crypto)
            let stranger = try TestDevice(creating: "stranger", crypto)
            let other = try RecordSealer(stranger.keys, epoch: stranger.state.epoch, crypto)
            network.foreignSeal = { content, _, _, name in
                (try? other.seal([(name, content)], by: stranger.device).first) ?? Data()
            }
        }
        sealer = try RecordSealer(device.keys, epoch: device.state.epoch, device.crypto)
        super.init(device.id)
        try refresh()
    }

    override func learn(from group: SimulatedGroup) {
        guard let group = group as? SealedGroup, group.device.log.entries.count != device.log.entries.count else {
            return
        }
        do {
            try device.receive(group.device)
            try refresh()
        } catch { members = [] }
    }

    override func remove(_ other: DeviceID) throws {
        try device.remove(other)
        try refresh()
    }

    private func refresh() throws {
        sealer = try RecordSealer(device.keys, epoch: device.state.epoch, device.crypto)
        members = device.state.members.map(\.id)
        past = Set(device.state.removed.map(\.id))
        epoch = device.state.epoch.mark
    }

    override func name(of address: String) throws(StorageError) -> String { try sealer.name(of: address) }
    override func hash(_ bytes: Data) throws(StorageError) -> SyncHash { try sealer.hash(of: bytes) }

    override func seal(_ contents: [(name: String, content: Data)]) throws(StorageError) -> [Data] {
        try sealer.seal(contents, by: device.device)
    }

    override func open(_ record: SyncRecord) throws(StorageError) -> OpenedRecord {
        try sealer.opened(record, in: device.state)
    }
}
