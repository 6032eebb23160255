import Foundation
import LocalDataAPI
@testable import HostSync
@testable import LocalDataHost

/// A group that reads records differently from how they were written.
final class FaultyGroup: SyncGroup {
    private let base: SimulatedGroup
    private let fault: SyncFault
    private let replica: SimulatedReplica

    init(_ base: SimulatedGroup, _ fault: SyncFault, _ replica: SimulatedReplica) {
        (self.base, self.fault, self.replica) = (base, fault, replica)
    }

    var me: DeviceID { base.me }
    var members: [DeviceID] { base.members }
    var epoch: UInt32 { base.epoch }
    func isKnown(_ device: DeviceID) -> Bool { base.isKnown(device) }
    func name(of address: String) throws(StorageError) -> String { try base.name(of: address) }
    func hash(_ bytes: Data) throws(StorageError) -> SyncHash { try base.hash(bytes) }
    func take(_ record: SyncRecord) throws(StorageError) -> Bool { try base.take(record) }
    func ownRecords() throws(StorageError) -> [SyncRecord] { try base.ownRecords() }

    func seal(_ contents: [(name: String, content: Data)]) throws(StorageError) -> [Data] {
        try base.seal(
            contents.map { name, content in
                guard fault == .acknowledgesUnseen, var changed = SyncContent(content),
                    case .status(var status) = changed.body
                else { return (name, content) }
                status.acknowledged = status.acknowledged.mapValues { _ in .max }
                changed.body = .status(status)
                return (name, changed.encoded())
            })
    }

    func open(_ record: SyncRecord) throws(StorageError) -> OpenedRecord {
        let opened = try base.open(record)
        guard case .content(let data) = opened, var content = SyncContent(data) else { return opened }
        switch (fault, content.body) {
        case (.endsRemovalsEarly, .status(var status)):
            status.acknowledged = status.acknowledged.mapValues { _ in .max }
            content.body = .status(status)
        case (.comparesTimesAlone, .value(let version, let history, let address, let attributes, let value)):
            guard let earlier = yielding(version, record.name) else { return opened }
            content.body = .value(earlier, history, address: address, attributes, value)
        case (.comparesTimesAlone, .removal(let version, let history, let address)):
            guard let earlier = yielding(version, record.name) else { return opened }
            content.body = .removal(earlier, history, address: address)
        default: return opened
        }
        return .content(content.encoded())
    }

    /// A version that loses against the own one of the same time; `nil` if that is absent.
    private func yielding(_ version: SyncVersion, _ name: String) -> SyncVersion? {
        guard let own = replica.disk.entries[name].flatMap({ SyncEntry($0) })?.state?.version,
            own.time == version.time, own.author != version.author
        else { return nil }
        return SyncVersion(time: version.time - 1, author: version.author)
    }
}
