import FoundationEssentials
import Glibc
import LocalDataAPI
import LocalDataHost
import MigrationExercise
import Testing

/// Migrations, disturbed at every one of their calls that change data, state or configuration; see
/// ``MigrationPoint/chosen(of:_:sample:_:)``.
@Suite("Migrations under faults")
struct MigrationCampaignTests {
    /// A number of points of one case that take about 1 s.
    private static let sample = 6

    @Test(
        "a fault at any call loses nothing, and the next run ends like an undisturbed one",
        arguments: MigrationCase.chosen)
    func campaign(_ description: MigrationCase) throws {
        let bench = try MigrationBench(description)
        let calls = try bench.calls()
        let count = calls.names.count
        try #require(count >= 10, "the injector sees only \(count) calls")
        let undisturbed = try undisturbed(bench)
        var generator = description.generator
        let (points, all) = MigrationPoint.chosen(of: calls, killing: true, sample: Self.sample, &generator)
        var seconds = 0
        FaultCampaign(operation: description, sample: Self.sample)
            .attempt(points, of: all, calls: count) { point, place in
                if try check(bench, point, undisturbed, place) { seconds += 1 }
            }
        print("faults: \(description.testDescription): \(seconds) with a second")
    }

    /// The state after an undisturbed run.
    private func undisturbed(_ bench: MigrationBench) throws -> ExerciseLook {
        try bench.reset()
        #expect(try bench.run("run").got?.value == bench.subject.wanted)
        let report = try bench.run("resume")
        let look = try #require(report.after)
        #expect(report.before == look && look.rows.count >= 1 && look.rows.allSatisfy { $0.state == .clean })
        #expect(bench.subject.allows(look) && look.debris == [])
        #expect(report.run?.value == "nothing to do" && report.callsAgain == 0)
        #expect(!look.kept.contains { $0.contains("localdata.batch") })
        return look
    }

    /// Returns whether the point had a second call, and that one was reached.
    private func check(
        _ bench: MigrationBench, _ point: MigrationPoint, _ undisturbed: ExerciseLook, _ place: String
    ) throws -> Bool {
        try bench.reset()
        let (run, reached) = try bench.run(point)
        let hit = try #require(reached, "\(place): the call was not reached")
        let what = "\(place): \(hit): status \(run.ending.status), \(run.ending.errors)"
        if point.mode.kills {
            #expect(run.ending.status == 128 + SIGKILL, "not killed; \(what)")
        }
        var isReached = false
        if let second = point.second {
            let point = MigrationPoint(mode: .killAfter, isLasting: false, number: second)
            isReached = try bench.run(point).run.ending.status == 128 + SIGKILL
        }
        let next = try bench.run(point.number.isMultiple(of: 2) ? "ask" : "resume")
        let before = try #require(next.before)
        let checks = MigrationChecks(subject: bench.subject, what: what)
        checks.checkValues(before)
        try checks.checkValue(next.got)
        if point.isLasting {
            // The run itself may find part of a decided batch, or a store that cannot be opened.
            #expect([0, 2].contains(run.ending.status), "an unexpected end; \(what)")
        } else if !point.mode.kills {
            try check(run, hit, point, checks)
        }
        #expect(next.run?.error == nil, "cannot be resumed: \(next.run?.error ?? ""); \(what)")
        #expect(next.after == undisturbed, "\(String(describing: next.after)); \(what)")
        #expect(next.again?.value == "nothing to do", "\(String(describing: next.again)); \(what)")
        #expect(next.callsAgain == 0, "another run makes \(next.callsAgain ?? -1) calls; \(what)")
        return isReached
    }

    /// The program's report must match the state that it finds.
    private func check(
        _ run: ExerciseServer.Run, _ hit: FaultShim.Call, _ point: MigrationPoint, _ checks: MigrationChecks
    ) throws {
        let report = try #require(run.report, "no report; \(checks.what)")
        let found = try #require(report.after)
        checks.checkValues(found)
        try checks.checkEnding(report.run, found: found)
        // In a chain, the first migration may have reported it.
        let warnings = ["is still there", "are still in its files"]
        let isTold = report.run?.value != "migrated" || warnings.contains { run.ending.errors.contains($0) }
        // SQLite syncs the folder itself after the store does, and ignores a failure.
        let isOfFolder = hit.name == "fdatasync" && !hit.path.contains(".sqlite")
        let isSynced = !(point.mode == .ioError && hit.name.hasSuffix("sync")) || isOfFolder
        #expect(isSynced || isTold, "success though a sync failed; \(checks.what)")
        try checks.checkValue(report.got)
    }
}
