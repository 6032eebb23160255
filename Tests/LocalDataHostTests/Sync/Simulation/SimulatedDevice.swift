import ByteCoding
import Foundation
import LocalDataAPI
import Synchronization

@testable import LocalDataHost

/// The members of a simulated group, as one device knows them. The real log of members has tests of its own.
final class SimulatedGroup: SyncGroup {
    let me: DeviceID
    var members: [DeviceID] = []
    var past: Set<DeviceID> = []
    var epoch: UInt32 = 1

    init(_ me: DeviceID) { self.me = me }

    func isKnown(_ device: DeviceID) -> Bool { members.contains(device) || past.contains(device) }

    func name(of address: String) throws(StorageError) -> String {
        let text = String(StableHash.of(Array(address.utf8)), radix: 16)
        return String(repeating: "0", count: 32 - text.count) + text
    }

    func hash(_ bytes: Data) throws(StorageError) -> [UInt8] {
        let hash = StableHash.of(Array(bytes))
        let other = StableHash.of(bytes.reversed() + [1])
        var writer = ByteWriter(.bigEndian)
        writer.add(hash)
        writer.add(other)
        return writer.bytes
    }

    func seal(_ content: Data, name: String) throws(StorageError) -> Data { Data([UInt8(epoch)]) + content }

    func open(_ record: SyncRecord) throws(StorageError) -> OpenedRecord {
        guard let first = record.content.first else { return .forged }
        if UInt32(first) < epoch { return .earlierEpoch }
        if UInt32(first) > epoch { return .laterEpoch }
        return .content(Data(record.content.dropFirst()))
    }

    func take(_ record: SyncRecord) throws(StorageError) -> Bool { false }
    func ownRecords() throws(StorageError) -> [SyncRecord] { [] }
}

/// A device of a simulation.
final class SimulatedDevice: SyncCarrier {
    let id: DeviceID
    let group: SimulatedGroup
    let replica: SimulatedReplica
    let network: SimulatedNetwork
    let largestRecord = 1 << 20
    let clock: SimulatedClock
    let limits: SyncEngine.Limits
    let fault: SyncFault?
    private var engine: SyncEngine?

    init(
        _ id: DeviceID, _ keys: [SyncKey], isAtomic: Bool, _ network: SimulatedNetwork, _ clock: SimulatedClock,
        _ limits: SyncEngine.Limits, merges: Bool, _ fault: SyncFault?
    ) {
        (self.id, self.network, self.clock, self.limits, self.fault) = (id, network, clock, limits, fault)
        group = SimulatedGroup(id)
        replica = SimulatedReplica(keys: keys, isAtomic: isAtomic, merges: merges)
    }

    func publish(_ records: [SyncRecord]) throws(StorageError) { try network.publish(records, id) }
    func remove(_ names: [String], of writer: String) throws(StorageError) { try network.remove(names, of: writer, id) }
    func fetch(since position: Data?, _ take: (SyncRecord) -> Bool) throws(StorageError) -> Data {
        try network.fetch(since: position, id, take)
    }

    /// Takes one step; a process that is killed starts again with the next one.
    func step() {
        do throws(StorageError) {
            let engine = try running()
            engine.noticeAll()
            try engine.step()
        } catch {
            if error.code == .cancelled { stop() }
        }
        if fault?.needsNewProcesses == true { stop() }
        replica.writesLeft = nil
    }

    /// Notices what has changed, and does nothing else.
    func observe() {
        guard let engine = try? running() else { return }
        engine.noticeAll()
        try? engine.observe()
    }

    /// Whether the process was killed while it changed a value in a store that cannot change value and entry as one: if
    /// a person then removes the value, it looks as if it had never been there.
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

    /// - Parameter skew: How much it differs from the true time.
    init(skew: Int64) { time = Atomic(1_700_000_000_000 + skew) }

    func now() -> UInt64 { UInt64(max(1, time.load(ordering: .relaxed))) }
    func pass(_ milliseconds: Int64) { time.add(milliseconds, ordering: .relaxed) }
}
