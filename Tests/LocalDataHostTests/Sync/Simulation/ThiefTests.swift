import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import HostPlugins
@testable import HostSync
@testable import LocalDataHost

/// Devices that were removed and go on: 1,000 schedules, 100,000 with `LOCALDATA_TORTURE=1`.
@Suite("Thieves of a sync group's devices") struct ThiefTests {
    /// Schedules that run beside each other.
    private static let parts = 4

    @Test(
        "from the moment when a member knows of its removal, a removed device reads nothing and changes nothing",
        arguments: 0..<parts)
    func removalsAreFinal(_ part: Int) async throws {
        let count = UInt64(TestRun.isTorture ? 100_000 : 1_000)
        let first = TestRun.seed &* 1_000_000
        let seeds = (first..<first + count).filter { Int($0 % UInt64(Self.parts)) == part }
        let stories = try await onIOThread { () throws(StorageError) in
            (try? ThiefBench()).map { bench in seeds.compactMap { story($0, bench) } } ?? ["no bench"]
        }
        for story in stories.prefix(2) { Issue.record("\(story)") }
        #expect(stories.isEmpty, "of \(seeds.count) schedules")
    }

    /// Too rare for the sample: in these, somebody joins in vain after entries that nobody keeps.
    @Test(
        "what a member keeps says the same as all that it has read",
        arguments: [1_019_676, 1_023_821, 1_034_590, 1_053_123, 1_059_164, 1_070_618] as [UInt64])
    func keptIsEnough(_ seed: UInt64) async throws {
        let found = try await onIOThread { () throws(StorageError) -> String? in
            guard let bench = try? ThiefBench() else { return "no bench" }
            return story(seed, bench)
        }
        #expect(found == nil)
    }

    private func story(_ seed: UInt64, _ bench: ThiefBench) -> String? {
        do {
            var simulation = try ThiefSimulation(seed, in: bench)
            let violations = try simulation.run()
            guard !violations.isEmpty else { return nil }
            let story = violations + simulation.story + simulation.picture(of: 0)
            return (["seed \(seed):"] + story).joined(separator: "\n")
        } catch { return "seed \(seed): \(error)" }
    }

    @Test("a group that leaves out a rule is found", arguments: GroupRule.allCases)
    func find(_ rule: GroupRule) async throws {
        let found = try await onIOThread { () throws(StorageError) in
            guard let bench = try? ThiefBench() else { return false }
            return rule.seeds.contains { seed in
                var simulation = try? ThiefSimulation(seed, in: bench, leavingOut: rule)
                return (try? simulation?.run())?.isEmpty == false
            }
        }
        #expect(found, "\(rule.seeds.count) schedules do not find it")
    }
}

extension GroupRule {
    /// The schedules that run until one finds that the rule is left out.
    fileprivate var seeds: Range<UInt64> { 0..<1500 }
}
