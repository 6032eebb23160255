import Foundation
import LocalDataAPI
@testable import HostSync
@testable import LocalDataHost

/// A replica that does not do everything that an engine asks for.
final class FaultyReplica: SyncReplica {
    private let base: SimulatedReplica
    private let fault: SyncFault

    init(_ base: SimulatedReplica, _ fault: SyncFault) { (self.base, self.fault) = (base, fault) }

    var keys: [SyncKey] { base.keys }
    func read(_ address: String) throws(StorageError) -> LocalValue? { try base.read(address) }
    func forEachMark(_ body: (_ key: Int, _ mark: UInt64?) -> Void) throws(StorageError) {
        try base.forEachMark(body)
    }
    func merge(_ lesser: LocalValue, _ greater: LocalValue, at address: String) throws(StorageError) -> LocalValue? {
        fault == .forgetsMerging ? nil : try base.merge(lesser, greater, at: address)
    }
    func canUse(_ data: Data, _ attributes: ValueAttributes, at address: String) -> Bool {
        base.canUse(data, attributes, at: address)
    }
    func kept(_ attributes: ValueAttributes, at address: String) -> ValueAttributes {
        base.kept(attributes, at: address)
    }
    func isAtomic(_ address: String) -> Bool { fault == .storesNoIntent || base.isAtomic(address) }
    func parked(_ name: String) throws(StorageError) -> Data? { try base.parked(name) }
    func outdated() throws(StorageError) -> OutdatedKeys? {
        fault == .overlooksEarlierStores ? nil : try base.outdated()
    }

    func forEachEntry(_ body: (String, SyncEntry) throws(StorageError) -> Void) throws(StorageError) {
        try base.forEachEntry(body)
    }

    func progress() throws(StorageError) -> Data? {
        let saved = try base.progress()
        guard var progress = saved.map({ SyncProgress($0) }) ?? SyncProgress() else { return saved }
        switch fault {
        case .takesReplays: for writer in progress.writers.keys { progress.writers[writer]?.taken = 0 }
        case .publishesWhileJoining: progress.isJoining = false
        default: return saved
        }
        return progress.encoded()
    }

    func commit(_ changes: [SyncChange], progress: Data?) throws(StorageError) -> [Int] {
        let intrudes = base.intrudes
        defer { base.intrudes = intrudes }
        var changes = changes
        for index in changes.indices {
            if fault == .dropsLosers { changes[index].loser = nil }
            guard fault == .ignoresExpectation, changes[index].changesValue else { continue }
            _ = intrudes(changes[index].address)
            changes[index].expected = try base.read(changes[index].address)
            base.intrudes = { _ in false }
        }
        return try base.commit(changes, progress: progress)
    }
}
