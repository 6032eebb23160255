import Foundation
import LocalDataAPI
@testable import HostPlugins
@testable import HostSync
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
