import ByteCoding
import Foundation
import LocalDataAPI
@testable import HostSync
@testable import LocalDataHost

/// The members of a simulated group, as one device knows them: see ``SealedGroup`` for one with real seals.
class SimulatedGroup: SyncGroup {
    let me: DeviceID
    var members: [DeviceID] = []
    var past: Set<DeviceID> = []
    var epoch: UInt32 = 1

    init(_ me: DeviceID) { self.me = me }

    /// Takes over the state of the group's most advanced device.
    func learn(from group: SimulatedGroup) { (members, past, epoch) = (group.members, group.past, group.epoch) }

    /// Removes a member, and begins a new epoch.
    func remove(_ device: DeviceID) throws {
        members.removeAll { $0 == device }
        past.insert(device)
        epoch += 1
    }

    func isKnown(_ device: DeviceID) -> Bool { members.contains(device) || past.contains(device) }

    func name(of address: String) throws(StorageError) -> String {
        let text = String(StableHash.of(Array(address.utf8)), radix: 16)
        return String(repeating: "0", count: 32 - text.count) + text
    }

    func hash(_ bytes: Data) throws(StorageError) -> SyncHash {
        SyncHash(high: StableHash.of(Array(bytes)), low: StableHash.of(bytes.reversed() + [1]))
    }

    func seal(_ contents: [(name: String, content: Data)]) throws(StorageError) -> [Data] {
        contents.map { name, content in
            SimulatedSeal.seal(
                content, of: SimulatedSeal.group, epoch: UInt8(truncatingIfNeeded: epoch), by: me.text, name: name)
        }
    }

    func open(_ record: SyncRecord) throws(StorageError) -> OpenedRecord {
        guard let (number, content) = SimulatedSeal.open(record, knownUpTo: UInt8(truncatingIfNeeded: epoch)) else {
            return .forged
        }
        if number < epoch { return .earlierEpoch }
        return content.map { .content($0) } ?? .laterEpoch
    }

    func take(_ record: SyncRecord) throws(StorageError) -> Bool { false }
    func ownRecords() throws(StorageError) -> [SyncRecord] { [] }
}
