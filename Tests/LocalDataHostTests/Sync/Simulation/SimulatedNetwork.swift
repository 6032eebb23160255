import Foundation
import LocalDataAPI

@testable import HostPlugins
@testable import HostSync
@testable import LocalDataHost

/// Random numbers that a seed determines.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 ^ 0xD1B5_4A32_D192_ED03 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// The error that ends a simulated process.
func killed() -> StorageError { StorageError(.cancelled, "killed by the simulation") }

/// A transport between simulated devices. Each device sees a prefix of each writer's actions, of its own length:
/// records arrive late, in another order than they were published, and twice.
final class SimulatedNetwork {
    struct Event {
        let name: String
        /// `nil` for a removal.
        let content: Data?
    }

    var random: SeededRandom
    private var logs: [String: [Event]] = [:]
    /// How much of each writer's log each device sees.
    private var visible: [DeviceID: [String: Int]] = [:]
    private var generation = 0
    /// The percentage of calls that fail.
    var failures = 0
    /// The percentage of calls in which the network is hostile; see ``SimulatedNetwork/hostileRecord(for:)``.
    var hostility = 0 { didSet { hidden = [:] } }
    /// Writers that were removed from the group.
    var former: Set<String> = []
    /// Seals as a device of another group would.
    var foreignSeal: (_ content: Data, _ epoch: UInt8, _ writer: String, _ name: String) -> Data = {
        SimulatedSeal.seal($0, of: SimulatedSeal.group + 1, epoch: $1, by: $2, name: $3)
    }
    /// The number of forged records that each device was given.
    private(set) var forgeries: [DeviceID: Int] = [:]
    /// The number of times that each device has read from the beginning.
    private(set) var wholeFetches: [DeviceID: Int] = [:]
    /// The names of the records that the network hides from each device.
    var hidden: [DeviceID: Set<String>] = [:]

    init(_ random: SeededRandom) { self.random = random }

    func writers() -> [String] { logs.keys.sorted() }

    /// Makes more of a writer's records visible to a device, or all.
    func deliver(to device: DeviceID, from writer: String, all: Bool) {
        let count = logs[writer]?.count ?? 0
        let seen = visible[device]?[writer] ?? 0
        guard count > seen else { return }
        visible[device, default: [:]][writer] = all ? count : seen + Int.random(in: 1...count - seen, using: &random)
    }

    /// Loses everything, like a server that was set up again.
    func wipe() {
        logs = [:]
        visible = [:]
        generation += 1
    }

    /// All that the network has.
    var image: [String: [Event]] { logs }

    /// Goes back to an earlier state, like a server that was restored from a backup.
    func putBack(_ image: [String: [Event]]) {
        logs = image
        for device in visible.keys {
            for (writer, seen) in visible[device] ?? [:] {
                visible[device]?[writer] = min(seen, logs[writer]?.count ?? 0)
            }
            visible[device]?[device.text] = logs[device.text]?.count ?? 0
        }
        generation += 1
    }

    func publish(_ records: [SyncRecord], _ device: DeviceID) throws(StorageError) {
        let fails = random.chance(failures)
        let arriving = fails ? Int.random(in: 0...records.count, using: &random) : records.count
        for record in records.prefix(arriving) {
            logs[record.writer, default: []].append(Event(name: record.name, content: record.content))
        }
        // A device sees at least what it has published itself.
        visible[device, default: [:]][device.text] = logs[device.text]?.count ?? 0
        if fails { throw StorageError(.storeUnavailable, "lost by the simulation") }
    }

    func remove(_ names: [String], of writer: String, _ device: DeviceID) throws(StorageError) {
        if random.chance(failures) { throw StorageError(.storeUnavailable, "lost by the simulation") }
        for name in names { logs[writer, default: []].append(Event(name: name, content: nil)) }
        visible[device, default: [:]][device.text] = logs[device.text]?.count ?? 0
    }

    func fetch(
        since position: Data?, _ device: DeviceID, _ take: (SyncRecord) -> Bool
    ) throws(StorageError) -> Data {
        if random.chance(failures) { throw StorageError(.storeUnavailable, "lost by the simulation") }
        if hostility > 0, random.chance(hostility) {
            hideSome(from: device)
            if position != nil { throw StorageError(.positionLost, "the simulated network lies") }
        }
        var ends: [String: Int] = [:]
        if position == nil { wholeFetches[device, default: 0] += 1 }
        if let position {
            let fields = String(decoding: position, as: UTF8.self).split(separator: " ")
            guard Int(fields[0]) == generation else { throw StorageError(.positionLost, "wiped by the simulation") }
            for field in fields.dropFirst() {
                let pair = field.split(separator: "=")
                ends[String(pair[0])] = Int(pair[1])
            }
        }
        var goesOn = true
        let hidden = self.hidden[device] ?? []
        while goesOn, hostility > 0, random.chance(hostility), let record = hostileRecord(for: device) {
            goesOn = take(record)
        }
        for writer in logs.keys.sorted().shuffled(using: &random) where goesOn {
            let end = visible[device]?[writer] ?? 0
            var next = ends[writer] ?? 0
            // Passes some records again: delivery is at least once.
            if next > 0, random.chance(10) { next = Int.random(in: 0..<next, using: &random) }
            let events = (logs[writer] ?? []).prefix(end)
            var isSkipped: [Int: Bool] = [:]
            while next < end, goesOn {
                let event = events[next]
                next += 1
                let later = events[next...].indices.filter { events[$0].name == event.name }
                if let removal = later.first(where: { events[$0].content == nil }) {
                    // For a removed name, a fetch passes the last record, or nothing.
                    let skips = isSkipped[removal] ?? random.chance(50)
                    isSkipped[removal] = skips
                    if skips { continue }
                }
                let isReplaced = later.first.map { events[$0].content != nil } ?? false
                if hidden.contains("\(writer)/\(event.name)") { continue }
                if let content = event.content, !isReplaced || random.chance(30) {
                    goesOn = take(SyncRecord(writer: writer, name: event.name, content: content))
                }
            }
            ends[writer] = max(next, 0)
        }
        let text = ends.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        return Data("\(generation) \(text)".utf8)
    }
}

// The actions of a hostile network, besides losing, repeating and reordering records.
extension SimulatedNetwork {
    /// Hides some records from a device, which reads all others from the beginning.
    private func hideSome(from device: DeviceID) {
        var some: Set<String> = []
        for (writer, events) in logs.sorted(by: { $0.key < $1.key }) {
            for name in Set(events.map(\.name)).sorted() where random.chance(30) { some.insert("\(writer)/\(name)") }
        }
        hidden[device] = some
    }

    /// A record that a device must refuse, or has already seen: one that was replaced or removed long ago, one that was
    /// changed, one under another name or writer, or one of another group.
    private func hostileRecord(for device: DeviceID) -> SyncRecord? {
        let all = logs.sorted { $0.key < $1.key }.flatMap { log in log.value.map { (log.key, $0) } }
        guard let (writer, event) = all.filter({ $0.1.content != nil }).randomElement(using: &random),
            var content = event.content
        else { return nil }
        switch former.contains(writer) ? 9 : Int.random(in: 0..<10, using: &random) {
        case 0:
            content[content.indices.randomElement(using: &random)!] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: return forgery(SyncRecord(writer: writer, name: event.name + "0", content: content), for: device)
        case 2:
            let other = DeviceID(high: .random(in: 0...UInt64.max, using: &random), low: 0)
            return forgery(SyncRecord(writer: other.text, name: event.name, content: content), for: device)
        case 3:
            content = foreignSeal(
                Data([1, 3] + [UInt8](repeating: 127, count: 8)), .random(in: 0...255, using: &random), writer,
                event.name)
        default: return SyncRecord(writer: writer, name: event.name, content: content)
        }
        return forgery(SyncRecord(writer: writer, name: event.name, content: content), for: device)
    }

    private func forgery(_ record: SyncRecord, for device: DeviceID) -> SyncRecord {
        forgeries[device, default: 0] += 1
        return record
    }
}
