import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing
@testable import HostSync
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
    var tips: [EntryID] { heads(of: entries.indices.reduce(into: NumberSet()) { $0.insert($1) }) }

    /// The same entries, added in another order in which parents come first.
    fileprivate func shuffled(using generator: inout SeededGenerator) -> GroupGraph {
        var (graph, rest) = (GroupGraph(), entries.shuffled(using: &generator))
        while let index = rest.firstIndex(where: { $0.parents.allSatisfy { graph.number(of: $0) != nil } }) {
            graph.add(rest.remove(at: index))
        }
        return graph
    }
}
