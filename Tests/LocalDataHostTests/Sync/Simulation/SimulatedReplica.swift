import ByteCoding
import Foundation
import LocalDataAPI
@testable import HostSync
@testable import LocalDataHost

/// A replica on a simulated disk, whose process can be killed at any write.
final class SimulatedReplica: SyncReplica {
    var disk = SimulatedDisk()
    let keys: [SyncKey]
    let isAtomic: Bool
    /// The number of writes before the process is killed; `nil` for no limit.
    var writesLeft: Int?
    /// Changes a value at the moment when sync changes it, as an app could.
    var intrudes: (String) -> Bool = { _ in false }
    /// Whether values are sets of numbers that merge.
    let merges: Bool
    /// Whether a store has less than was synced, and progress does not say so yet.
    private var isOutdated = false
    /// The number of times that changes were stored.
    private(set) var commits = 0
    /// The number of values that were read.
    private(set) var reads = 0
    /// The number of values that sync has removed.
    private(set) var removals = 0

    init(keys: [SyncKey], isAtomic: Bool, merges: Bool) {
        (self.keys, self.isAtomic, self.merges) = (keys, isAtomic, merges)
    }

    func read(_ address: String) throws(StorageError) -> LocalValue? {
        reads += 1
        return disk.values[address].map {
            LocalValue(data: $0.data, attributes: $0.attributes, mark: Self.mark($0), written: $0.written)
        }
    }

    func forEachMark(_ body: (_ key: Int, _ mark: UInt64?) -> Void) throws(StorageError) {
        for (index, key) in keys.enumerated() { body(index, disk.values[key.address].map(Self.mark)) }
    }

    private static func mark(_ value: LocalValue) -> UInt64 {
        StableHash.of(Array("\(value.attributes)/".utf8) + value.data)
    }

    func canUse(_ value: Data, _ attributes: ValueAttributes, at address: String) -> Bool { true }
    func kept(_ attributes: ValueAttributes, at address: String) -> ValueAttributes { attributes }
    func isAtomic(_ address: String) -> Bool { isAtomic }

    func merge(_ lesser: LocalValue, _ greater: LocalValue, at address: String) throws(StorageError) -> LocalValue? {
        guard merges else { return nil }
        let numbers = SimulatedSet(lesser.data).numbers.union(SimulatedSet(greater.data).numbers)
        return LocalValue(data: SimulatedSet(numbers).data, attributes: greater.attributes, mark: nil)
    }

    func forEachEntry(_ body: (String, SyncEntry) throws(StorageError) -> Void) throws(StorageError) {
        for (name, data) in disk.entries.sorted(by: { $0.key < $1.key }) {
            guard let entry = SyncEntry(data) else { throw StorageError(.corrupt, "an entry is damaged") }
            try body(name, entry)
        }
    }

    func outdated() throws(StorageError) -> OutdatedKeys? {
        var outdated = OutdatedKeys(returned: disk.returned ?? [])
        if disk.returned != nil {
            outdated.rewritten = Set(keys.map(\.address).filter(SimulatedDisk.isApart)).subtracting(outdated.returned)
        }
        let isPutBack = disk.changes < disk.knownChanges
        if isPutBack { outdated.putBack = Set(keys.map(\.address).filter(SimulatedDisk.isApart)) }
        isOutdated = isPutBack || disk.returned != nil
        return isOutdated ? outdated : nil
    }

    func parked(_ name: String) throws(StorageError) -> Data? { disk.parked[name] }
    func progress() throws(StorageError) -> Data? { disk.progress }

    func commit(_ changes: [SyncChange], progress: Data?) throws(StorageError) -> [Int] {
        commits += 1
        var refused: [Int] = []
        for (index, change) in changes.enumerated() {
            guard try make(change) else {
                refused.append(index)
                continue
            }
        }
        if let progress, refused.isEmpty {
            try write { ($0.progress, $0.knownChanges, $0.returned) = (progress, $0.changes, nil) }
            isOutdated = false
        }
        return refused
    }

    private func make(_ change: SyncChange) throws(StorageError) -> Bool {
        if change.changesValue {
            let isOther = intrudes(change.address) || disk.values[change.address]?.data != change.expected?.data
            if isOther { return false }
            if case .remove = change.value { removals += 1 }
        }
        guard !isAtomic, change.changesValue else {
            try write { disk in
                Self.keepLoser(change, &disk)
                Self.setValue(change, &disk)
                Self.setEntry(change, isOutdated ? nil : commits << 16, &disk)
            }
            return true
        }
        if let intent = change.intent { try write { $0.entries[change.name] = intent.encoded() } }
        try write { Self.keepLoser(change, &$0) }
        try write { Self.setValue(change, &$0) }
        try write { Self.setEntry(change, isOutdated ? nil : commits << 16, &$0) }
        return true
    }

    private static func keepLoser(_ change: SyncChange, _ disk: inout SimulatedDisk) {
        if let loser = change.loser { disk.losers.insert(String(decoding: loser.data, as: UTF8.self)) }
    }

    private static func setValue(_ change: SyncChange, _ disk: inout SimulatedDisk) {
        let address = change.address
        switch change.value {
        case .keep: break
        case .set(let data, let attributes):
            disk.values[address] = LocalValue(data: data, attributes: attributes, mark: nil)
        case .remove: disk.values[address] = nil
        }
    }

    private static func setEntry(_ change: SyncChange, _ number: Int?, _ disk: inout SimulatedDisk) {
        disk.entries[change.name] = change.entry?.encoded()
        if SimulatedDisk.isApart(change.address) { disk.changes = number ?? disk.changes + 1 }
        switch change.parked {
        case .keep: break
        case .set(let data): disk.parked[change.name] = data
        case .discard: disk.parked[change.name] = nil
        }
    }

    private func write(_ body: (inout SimulatedDisk) -> Void) throws(StorageError) {
        if let left = writesLeft {
            guard left > 0 else { throw killed() }
            writesLeft = left - 1
        }
        body(&disk)
    }
}
