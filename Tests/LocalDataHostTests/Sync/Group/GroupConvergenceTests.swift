import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import LocalDataHost

/// 300 random logs, 5,000 with `LOCALDATA_TORTURE=1`. Some devices do not know that they were removed, some ignore it,
/// and some were restored from an old image.
@Suite("Logs of a sync group converge") struct GroupConvergenceTests {
    private static let seeds = (0..<(TestRun.isTorture ? 5000 : 300)).map { TestRun.seed &* 1_000_000 &+ UInt64($0) }

    @Test("the same entries in any order give the same state, and members can always agree on a key again")
    func randomLogs() throws {
        for seed in Self.seeds {
            var generator = SeededGenerator(seed: seed)
            var group = try RandomGroup(seed, by: [GroupProvider.openssl.crypto(), GroupProvider.sodium.crypto()])
            for _ in 0..<Int.random(in: 3...12, using: &generator) { try group.step(&generator) }
            try checkOrders(group, &generator, seed)
            try checkRecovery(group, seed)
        }
    }

    private func checkOrders(_ group: RandomGroup, _ generator: inout SeededGenerator, _ seed: UInt64) throws {
        let entries = Array(Set(group.devices.flatMap(\.log.entries)))
        let first = group.devices[0]
        var expected = GroupLog(of: first.keys, first.crypto)
        expected.add(contentsOf: entries.shuffled(using: &generator))
        let state = expected.state
        try #require(expected.refused == 0 && expected.waitingCount == 0, "seed \(seed)")
        #expect(!state.members.isEmpty, "seed \(seed)")
        let groups = [state.members, state.removed, state.forgotten].map { Set($0.map(\.id)) }
        #expect(groups.reduce(Set()) { $0.union($1) }.count == groups.reduce(0) { $0 + $1.count }, "seed \(seed)")
        // As a device stores it, and reads it again.
        var kept = GroupLog(of: first.keys, first.crypto)
        kept.add(contentsOf: expected.entries)
        #expect(kept.state == state, "seed \(seed): what is kept")
        // One by one, and each entry twice.
        var log = GroupLog(of: first.keys, first.crypto)
        for entry in entries.shuffled(using: &generator) {
            try log.add(entry)
            #expect(try !log.add(entry))
        }
        #expect(log.state == state, "seed \(seed): one by one")
        for _ in 0..<4 {
            let graph = log.graph.shuffled(using: &generator)
            let other = GroupState(of: graph, GroupVerdicts(of: graph), group: log.group)
            #expect(other == state, "seed \(seed): another order of arrival")
        }
    }

    /// Makes honest members do their next steps: exchange everything, and rekey if necessary.
    private func checkRecovery(_ group: RandomGroup, _ seed: UInt64) throws {
        var devices = group.devices
        // Twice: what one has taken for void, and passes on only when it knows more, may be another one's own entry
        // from before it was restored.
        for _ in 0..<2 { try exchange(&devices) }
        for _ in 0..<2 where devices[0].state.needsRekey || devices[0].state.isKnownByCode {
            guard let index = devices.firstIndex(where: { $0.id == devices[0].state.members.first?.id }) else { break }
            try devices[index].rekey()
            for other in devices.indices { try devices[other].receive(devices[index]) }
        }
        let state = devices[0].state
        #expect(devices.allSatisfy { $0.state == state }, "seed \(seed)")
        #expect(!state.needsRekey && !state.isKnownByCode, "seed \(seed)")
        for device in devices where state.member(device.id) != nil {
            #expect(device.hasCurrentKey, "seed \(seed): the member \(device.id) lacks the key")
        }
        guard group.hadNeeded(state) else { return }
        for device in devices where state.removed.contains(where: { $0.id == device.id }) {
            #expect(!device.hasCurrentKey, "seed \(seed): the removed \(device.id) has the key")
        }
    }
}

extension GroupGraph {
    /// The entries that no other one comes after, void ones, too: what a dishonest device may name as parents.
    fileprivate var tips: [EntryID] { heads(of: entries.indices.reduce(into: NumberSet()) { $0.insert($1) }) }

    /// The same entries, added in another order in which parents come first.
    fileprivate func shuffled(using generator: inout SeededGenerator) -> GroupGraph {
        var (graph, rest) = (GroupGraph(), entries.shuffled(using: &generator))
        while let index = rest.firstIndex(where: { $0.parents.allSatisfy { graph.number(of: $0) != nil } }) {
            graph.add(rest.remove(at: index))
        }
        return graph
    }
}

/// Devices that do random things to their copies of a log.
private struct RandomGroup {
    private let cryptos: [GroupCrypto]
    private(set) var devices: [TestDevice]
    /// Images from which a device can be restored.
    private var images: [TestDevice] = []
    private var clock: UInt64 = 10_000

    init(_ seed: UInt64, by cryptos: [GroupCrypto]) throws {
        self.cryptos = cryptos
        devices = [try TestDevice(creating: "device 0", cryptos[Int(seed % 2)])]
        for _ in 0..<2 { try join(0) }
        try exchange(&devices)
    }

    /// Whether a removal is the reason for the state's epoch, so that no removed device has its key.
    func hadNeeded(_ state: GroupState) -> Bool { state.epoch.number > 0 }

    mutating func step(_ generator: inout SeededGenerator) throws {
        let actor = Int.random(in: devices.indices, using: &generator)
        let other = Int.random(in: devices.indices, using: &generator)
        // Clocks may be wrong by a few steps.
        clock += 100
        let time = clock - UInt64.random(in: 0..<400, using: &generator)
        if Int.random(in: 0..<6, using: &generator) == 0 { images.append(devices[actor]) }
        switch Int.random(in: 0..<12, using: &generator) {
        case 0, 1: if devices.count < 7 { try? join(actor) }
        case 2, 3, 4: try? devices[actor].remove(devices[other].id, at: time)
        case 5: try? devices[actor].forget(devices[other].id, at: time)
        case 6: try? devices[actor].rekey(at: time)
        case 7: try misbehave(actor, other, at: time)
        case 8: restore(&generator)
        case 10: try devices[actor].answer(at: time)
        case 9:
            if let code = try? devices[actor].invite(at: time) { try? rejoin(other, code, devices[actor].log.entries) }
        default: try devices[actor].receive(devices[other])
        }
    }

    private mutating func join(_ host: Int) throws {
        let new = try devices[host].admit("device \(devices.count)", at: clock, cryptos[devices.count % 2])
        devices.append(new)
    }

    private mutating func rejoin(_ index: Int, _ code: String, _ entries: [Data]) throws {
        let known = devices[index]
        var new = try TestDevice(joining: entries, by: code, "again", at: clock, as: known.device, known.crypto)
        try new.receive(known)
        // A device joins again with keys of its own only if it has lost no others with that.
        guard known.keys.knownEpochs.isSubset(of: new.keys.knownEpochs) else { return }
        devices[index] = new
    }

    /// Makes a device act without the right to do so.
    private mutating func misbehave(_ actor: Int, _ other: Int, at time: UInt64) throws {
        let known = devices[actor].log.graph.entries.filter { $0.profile != nil }.map(\.author)
        guard known.contains(devices[other].id), actor != other else { return }
        let others = known.filter { $0 != devices[other].id }
        try devices[actor].force(
            .remove(devices[other].id, devices[actor].epochKeys(for: others)), after: devices[actor].log.graph.tips,
            at: time)
    }

    /// Resets a device to an earlier image, so that it forgets everything since.
    private mutating func restore(_ generator: inout SeededGenerator) {
        guard let image = images.randomElement(using: &generator) else { return }
        // Published entries are not lost: another device has them.
        for index in devices.indices where devices[index].id == image.id {
            for receiver in devices.indices where receiver != index { try? devices[receiver].receive(devices[index]) }
            devices[index] = image
            return
        }
    }
}
