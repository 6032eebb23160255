import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing
@testable import HostSync
@testable import LocalDataHost

/// Devices with clocks of their own, and all codes that they have made.
struct CodeGroup {
    /// Whether only expiry and revocation end anything, each code is used once, and nobody else has it.
    let isHonest: Bool
    private let crypto: GroupCrypto
    /// How many devices are members from the start.
    private let founders = 3
    private var devices: [TestDevice]
    private var offsets: [DeviceID: UInt64] = [:]
    private var thieves: [TestDevice] = []
    private(set) var codes: [(code: String, entries: [Data], expiry: UInt64)] = []
    private var used: Set<String> = []
    /// Devices that members from before their invitations have taken in: founders, or others of these.
    private(set) var accepted: Set<DeviceID> = []
    var clock: UInt64 = 10_000

    init(isHonest: Bool, _ crypto: GroupCrypto) throws {
        (self.isHonest, self.crypto) = (isHonest, crypto)
        devices = try makeGroup(of: ["a", "b", "c"], crypto)
    }

    var members: [TestDevice] {
        let removed = Set(devices.flatMap { $0.state.removed.map(\.id) + $0.state.forgotten.map(\.id) })
        return devices.filter { $0.state.member($0.id) != nil && !removed.contains($0.id) }
    }

    /// Whether one of the members has founded the group, or was taken in by a member from before its invitation.
    var isSettled: Bool {
        guard let log = members.first?.log else { return false }
        let first = Set(devices.prefix(founders).map(\.id))
        let takenIn = log.takenIn.reduce(into: first) { $0.insert(log.graph.authors[$1]) }
        return members.contains { takenIn.contains($0.id) }
    }

    private func time(of index: Int) -> UInt64 { clock + (offsets[devices[index].id] ?? 0) }

    mutating func step(_ generator: inout SeededGenerator) throws {
        clock += UInt64.random(in: 1..<300, using: &generator)
        let actor = Int.random(in: devices.indices, using: &generator)
        let other = Int.random(in: devices.indices, using: &generator)
        if offsets[devices[actor].id] == nil {
            offsets[devices[actor].id] = [0, 0, 50, 1000].randomElement(using: &generator)
        }
        let time = time(of: actor)
        switch Int.random(in: 0..<14, using: &generator) {
        case 0, 1:
            let expiry = time + UInt64.random(in: 0..<3000, using: &generator)
            guard let code = try? devices[actor].invite(until: expiry, at: time) else { return }
            codes.append((code, devices[actor].log.entries, expiry))
        case 2, 3, 4: join(devices[actor], &generator)
        case 5 where devices[actor].state.member(devices[actor].id) != nil:
            try devices[actor].rekey(at: time) { _ in true }
        case 6 where !isHonest: try? devices[actor].remove(devices[other].id, at: time)
        case 7 where !isHonest: try? devices[actor].forget(devices[other].id, at: time)
        case 8 where !isHonest: try steal(&generator, to: actor)
        default:
            var entries = devices[other].log.entries
            if Bool.random(using: &generator) { entries = entries.filter { _ in Bool.random(using: &generator) } }
            try devices[actor].take(entries, at: time)
            if Int.random(in: 0..<3, using: &generator) > 0 { try answer(actor) }
        }
    }

    private mutating func answer(_ index: Int) throws {
        try devices[index].answer(at: time(of: index))
        // What a device takes in counts for nothing if nobody has taken in that device itself before its code ended.
        let log = devices[index].log
        guard isHonest, index < founders || accepted.contains(devices[index].id) else { return }
        log.takenIn.reduce(into: ()) { _, join in accepted.insert(log.graph.authors[join]) }
    }

    private mutating func join(_ host: TestDevice, _ generator: inout SeededGenerator) {
        guard devices.count < 8, let code = codes.randomElement(using: &generator),
            !isHonest || !used.contains(code.code),
            var new = try? TestDevice(
                joining: host.log.entries + code.entries, by: code.code, "device \(devices.count)", at: clock, crypto)
        else { return }
        used.insert(code.code)
        if Bool.random(using: &generator) { try? new.answer(at: clock) }
        devices.append(new)
    }

    /// Somebody joins by a code with an old copy, and a time of its choice.
    private mutating func steal(_ generator: inout SeededGenerator, to target: Int) throws {
        guard let code = codes.randomElement(using: &generator) else { return }
        let time = UInt64.random(in: 0...code.expiry, using: &generator)
        let entries = code.entries + (Bool.random(using: &generator) ? devices[target].log.entries : [])
        guard var thief = try? TestDevice(joining: entries, by: code.code, "thief", at: time, crypto) else { return }
        if Bool.random(using: &generator), let friend = thieves.randomElement(using: &generator) {
            try thief.receive(friend)
        }
        try thief.answer(at: time)
        thieves.append(thief)
        try devices[target].take(thief, at: self.time(of: target))
    }

    /// What all those do who have any of the codes.
    mutating func attack(_ generator: inout SeededGenerator) throws {
        guard !codes.isEmpty else { return }
        thieves = []
        let targets = devices.indices.filter { devices[$0].state.member(devices[$0].id) != nil }
        for _ in 0..<2 * codes.count { try steal(&generator, to: targets.randomElement(using: &generator) ?? 0) }
        try exchange(&thieves)
        for index in thieves.indices { try thieves[index].answer(at: 1) }
        for thief in thieves {
            let target = targets.randomElement(using: &generator) ?? 0
            try devices[target].take(thief, at: time(of: target))
            try devices[target].answer(at: time(of: target))
        }
    }

    /// All sync again and again.
    mutating func settle() throws {
        for _ in 0..<6 {
            for index in devices.indices {
                for source in devices.indices where source != index {
                    try devices[index].take(devices[source], at: time(of: index))
                }
                try answer(index)
            }
        }
        for index in devices.indices {
            for source in devices.indices where source != index {
                try devices[index].take(devices[source], at: time(of: index))
            }
        }
    }
}
