import ByteCoding
import Foundation
import LocalDataAPI
import Synchronization
@testable import HostSync
@testable import LocalDataHost

/// Simulates the seal of records: only a holder of the group's number can make one.
///
///     mark of group and epoch, 8 bytes | epoch, 1 byte | tag of all and of writer and name, 8 bytes | content
enum SimulatedSeal {
    static let group: UInt8 = 7

    static func seal(_ content: Data, of group: UInt8, epoch: UInt8, by writer: String, name: String) -> Data {
        let head = head(group, epoch)
        return head + tag(head, content, writer, name) + content
    }

    /// - Returns: The epoch, and the content if the epoch is known; `nil` if the record is forged.
    static func open(_ record: SyncRecord, knownUpTo known: UInt8) -> (epoch: UInt8, content: Data?)? {
        let (head, rest) = (record.content.prefix(9), record.content.dropFirst(9))
        guard head.count == 9, let epoch = head.last, head == self.head(group, epoch) else { return nil }
        if epoch > known { return (epoch, nil) }
        let content = Data(rest.dropFirst(8))
        guard rest.prefix(8) == tag(head, content, record.writer, record.name) else { return nil }
        return (epoch, content)
    }

    private static func head(_ group: UInt8, _ epoch: UInt8) -> Data { hash([group, epoch]) + [epoch] }

    private static func tag(_ head: Data, _ content: Data, _ writer: String, _ name: String) -> Data {
        hash(Array(head) + Array("\(writer)/\(name)/".utf8) + content)
    }

    private static func hash(_ bytes: [UInt8]) -> Data {
        withUnsafeBytes(of: StableHash.of(bytes).bigEndian) { Data($0) }
    }
}

/// A device of a simulation.
final class SimulatedDevice: SyncCarrier {
    var id: DeviceID { group.me }
    let group: SimulatedGroup
    let replica: SimulatedReplica
    let network: SimulatedNetwork
    let largestRecord = 1 << 20
    let clock: SimulatedClock
    let limits: SyncEngine.Limits
    let fault: SyncFault?
    private var engine: SyncEngine?

    init(
        _ group: SimulatedGroup, _ keys: [SyncKey], isAtomic: Bool, _ network: SimulatedNetwork,
        _ clock: SimulatedClock,
        _ limits: SyncEngine.Limits, merges: Bool, _ fault: SyncFault?
    ) {
        (self.group, self.network, self.clock, self.limits, self.fault) = (group, network, clock, limits, fault)
        replica = SimulatedReplica(keys: keys, isAtomic: isAtomic, merges: merges)
    }

    func publish(_ records: [SyncRecord]) throws(StorageError) { try network.publish(records, id) }
    func remove(_ names: [String], of writer: String) throws(StorageError) { try network.remove(names, of: writer, id) }
    func fetch(since position: Data?, _ take: (SyncRecord) -> Bool) throws(StorageError) -> Data {
        try network.fetch(since: position, id, take)
    }

    /// Whether the device is a full member with a value that somebody has published, which then is the group's.
    func knowsPublishedValue(of address: String) -> Bool {
        guard replica.disk.values[address] != nil, let engine = try? running(), !engine.isJoining else { return false }
        return engine.entries.values.contains { entry in
            entry.address == address && entry.published.values.contains { $0.kind == .value }
        }
    }

    /// Takes one step; a process that is killed starts again with the next one.
    ///
    /// - Parameter savesAll: Whether it saves data that the next process could find out by itself; by default in every
    ///   other millisecond.
    /// - Returns: Whether the step ended without an error.
    @discardableResult
    func step(savesAll: Bool? = nil) -> Bool {
        run { (engine) throws(StorageError) in
            try engine.step(savesAll: savesAll ?? clock.now().isMultiple(of: 2))
        }
    }

    /// Publishes changes and does nothing else, if the process can do that.
    func publishChanges() { run { (engine) throws(StorageError) in _ = try engine.publishChanges() } }

    @discardableResult
    private func run(_ body: (SyncEngine) throws(StorageError) -> Void) -> Bool {
        defer {
            if fault?.needsNewProcesses == true { stop() }
            replica.writesLeft = nil
        }
        do throws(StorageError) {
            let engine = try running()
            engine.noticeAll()
            try body(engine)
            return true
        } catch {
            if error.code == .cancelled { stop() }
            return false
        }
    }

    /// The number of records without a seal of the group that the process has refused.
    var refused: Int { engine.map { $0.counts.forged + $0.counts.foreign } ?? 0 }

    /// Notices changes, and does nothing else.
    func observe() {
        guard let engine = try? running() else { return }
        engine.noticeAll()
        try? engine.observe()
    }

    /// Whether the process was killed while it changed a value in a store that cannot change value and entry as one. If
    /// a person then removes the value, it looks as if it had never existed.
    func isAmidChange(of address: String) -> Bool {
        guard !replica.isAtomic, let name = try? group.name(of: address), let data = replica.disk.entries[name] else {
            return false
        }
        return SyncEntry(data).map { $0.pending != nil && !$0.isHeld } ?? false
    }

    func running() throws(StorageError) -> SyncEngine {
        if let engine { return engine }
        let made = if let fault { try makeEngine(with: fault) } else { try makeEngine() }
        engine = made
        return made
    }

    func stop() { engine = nil }

    private func makeEngine() throws(StorageError) -> SyncEngine {
        try SyncEngine(group: group, replica: replica, carrier: self, limits: limits) { [clock] in clock.now() }
    }

    private func makeEngine(with fault: SyncFault) throws(StorageError) -> SyncEngine {
        var limits = limits
        if fault == .asksForNoConsent { limits.removals = .max }
        return try SyncEngine(
            group: FaultyGroup(group, fault, replica), replica: FaultyReplica(replica, fault),
            carrier: FaultyCarrier(self, fault), limits: limits
        ) { [clock] in fault == .countsWithoutClock ? 1 : clock.now() }
    }
}

/// A device's clock, in milliseconds.
final class SimulatedClock: Sendable {
    private let time: Atomic<Int64>

    /// - Parameter skew: The difference from the true time.
    init(skew: Int64) { time = Atomic(1_700_000_000_000 + skew) }

    func now() -> UInt64 { UInt64(max(1, time.load(ordering: .relaxed))) }
    func pass(_ milliseconds: Int64) { time.add(milliseconds, ordering: .relaxed) }
}
