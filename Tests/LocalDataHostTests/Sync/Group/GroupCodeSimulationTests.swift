import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing
@testable import HostGround
@testable import HostSync
@testable import LocalDataHost

/// 40 random groups, 3,000 with `LOCALDATA_TORTURE=1`, whose members' clocks differ, and which invite, join, revoke,
/// remove and forget in any order, while somebody collects all codes.
@Suite("Codes of a sync group in random order") struct GroupCodeSimulationTests {
    /// Groups that run beside each other.
    private static let parts = 4

    @Test(
        "members agree, have all keys, owe no epoch, and no code that has ended opens anything or lets anybody in",
        arguments: 0..<parts)
    func codes(_ part: Int) async throws {
        let first = TestRun.seed &* 1_000_000
        let seeds = (first..<first + (TestRun.isTorture ? 3000 : 40)).filter { Int($0 % UInt64(Self.parts)) == part }
        // A seed that fails keeps no later one from being tried.
        let failures = try await onIOThread { () throws(StorageError) in
            seeds.compactMap { seed -> String? in
                do { try run(seed) } catch { return "seed \(seed): \(error)" }
                return nil
            }
        }
        #expect(failures.isEmpty)
    }

    private func run(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var group = try CodeGroup(isHonest: seed % 2 == 0, try GroupProvider.openssl.crypto())
        for _ in 0..<Int.random(in: 5...25, using: &generator) { try group.step(&generator) }
        group.clock += 1_000_000
        try group.settle()
        // All may be gone but those who joined by others' codes while these were open, or whose joins no member
        // from before has taken in.
        guard group.isHonest || group.isSettled else { return }
        try check(group, seed)
        let members = try #require(group.members.first?.state.members, "seed \(seed)")
        #expect(group.accepted.isSubset(of: members.map(\.id)), "seed \(seed): a device was lost")
        // All codes have ended now.
        let epoch = group.members[0].state.epoch.number
        try group.attack(&generator)
        try group.settle()
        try check(group, seed)
        #expect(group.members.first?.state.members == members, "seed \(seed): codes let somebody in or out")
        #expect(group.members[0].state.epoch.number <= epoch + 2 * UInt32(group.codes.count), "seed \(seed)")
    }

    private func check(_ group: CodeGroup, _ seed: UInt64) throws {
        let members = group.members
        try #require(!members.isEmpty, "nobody is left")
        for member in members {
            #expect(member.state == members[0].state, "seed \(seed)")
            #expect(member.state.epoch.era.isSubset(of: member.keys.knownEpochs), "seed \(seed): a key is lacking")
            #expect(!member.log.owesEpoch(member.id, at: group.clock), "seed \(seed): an epoch is owed")
            var kept = GroupLog(of: member.keys, member.crypto)
            kept.add(contentsOf: member.log.entries)
            #expect(kept.state == member.state, "seed \(seed): what is kept")
        }
        for code in group.codes {
            #expect(throws: Never.self, "seed \(seed)") {
                let opened = try CodeFinder(code: code.code).epochs(in: members[0])
                #expect(!opened.contains(members[0].state.epoch.id), "seed \(seed): a code opens the epoch")
            }
        }
    }
}
