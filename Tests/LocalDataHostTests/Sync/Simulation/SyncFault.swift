import Foundation
import LocalDataAPI

@testable import LocalDataHost

/// A fault that an engine could have. It is injected from outside: the engine's surroundings behave as if the engine
/// broke one of its rules.
enum SyncFault: String, CaseIterable, Sendable {
    /// Versions are compared only by their times, and with equal times the own one wins.
    case comparesTimesAlone
    /// A removal ends before every member has acknowledged it.
    case endsRemovalsEarly
    /// A device acknowledges records that it has not taken in.
    case acknowledgesUnseen
    /// A record that is older than all records taken in counts again.
    case takesReplays
    /// Records to be published are only in memory, and count as published.
    case keepsOutboxInMemory
    /// A value is written without checking the existing one.
    case ignoresExpectation
    /// A value that loses a conflict is not kept.
    case dropsLosers
    /// A value and its entry change one after the other, and the intent is not stored first.
    case storesNoIntent
    /// Counters continue from the last known one, as if no device were ever restored to an older image.
    case countsWithoutClock
    /// A new device publishes its values before it has taken in the group's.
    case publishesWhileJoining
    /// A pull that removes most values does not wait for consent.
    case asksForNoConsent
    /// Merging keeps only one of the two values.
    case forgetsMerging

    /// A store that was put back, or serves again, is not noticed.
    case overlooksEarlierStores

    /// The kind of schedule that reveals the fault.
    var life: SimulatedLife {
        switch self {
        case .countsWithoutClock: .aged
        case .storesNoIntent, .keepsOutboxInMemory: .brittle
        case .forgetsMerging: .merging
        case .overlooksEarlierStores: .shelved
        case .publishesWhileJoining: .joined
        case .asksForNoConsent: .cautious
        case .ignoresExpectation: .disturbed
        case .comparesTimesAlone, .endsRemovalsEarly, .takesReplays, .dropsLosers, .acknowledgesUnseen:
            .faulty
        }
    }

    /// The schedules that run until one finds the fault: 400. To save time, start with those shortly before one that is
    /// known to find it.
    var seeds: [UInt64] {
        let first: UInt64 =
            switch self {
            case .countsWithoutClock: 80
            case .endsRemovalsEarly, .acknowledgesUnseen: 72
            case .asksForNoConsent: 40
            case .takesReplays: 25
            default: 0
            }
        return Array(first..<400) + Array(0..<first)
    }

    /// Whether the fault shows in the data that a process reads when it starts, so that each step needs a new process.
    var needsNewProcesses: Bool { self == .takesReplays }
}

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

/// A carrier whose calls happen at other times.
final class FaultyCarrier: SyncCarrier {
    private let base: SimulatedDevice
    private let fault: SyncFault
    /// Records that count as published.
    private var waiting: [SyncRecord] = []

    init(_ base: SimulatedDevice, _ fault: SyncFault) { (self.base, self.fault) = (base, fault) }

    var largestRecord: Int { base.largestRecord }

    func publish(_ records: [SyncRecord]) throws(StorageError) {
        waiting += records
        if fault != .keepsOutboxInMemory { try send() }
    }

    func remove(_ names: [String], of writer: String) throws(StorageError) {
        try send()
        try base.remove(names, of: writer)
    }

    func fetch(since position: Data?, _ take: (SyncRecord) -> Bool) throws(StorageError) -> Data {
        try send()
        return try base.fetch(since: position, take)
    }

    private func send() throws(StorageError) {
        guard !waiting.isEmpty else { return }
        do throws(StorageError) { try base.publish(waiting) } catch {
            // The engine publishes records again unless they are only in memory.
            if fault != .keepsOutboxInMemory { waiting = [] }
            throw error
        }
        waiting = []
    }
}
