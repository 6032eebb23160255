import FoundationEssentials
import Glibc
import LocalDataAPI
import LocalDataHost
import MigrationExercise
import TestSupport
import Testing

/// Migrations to and from a PostgreSQL server, killed or disconnected before and after each message to the server. All
/// points with `LOCALDATA_TORTURE=1`, otherwise some points of one pair of each kind, the same for the same
/// `LOCALDATA_SEED`.
@Suite("Migrations with a server under faults", .serialized)
struct ServerMigrationCampaignTests {
    /// A number of points of one case that take about 1 s.
    private static let sample = 2

    @Test(
        "a process or a connection that ends at any message loses nothing, and the next run ends like an undisturbed one",
        arguments: cases)
    func campaign(_ description: MigrationCase) throws {
        let bench = try ServerMigrationBench(description)
        try bench.reset()
        let (first, messages) = try bench.run("run")
        #expect(first.report?.run?.value == "migrated" && first.report?.got?.value == bench.subject.wanted)
        try #require(messages >= 5, "the program sent only \(messages) messages: \(first.ending.errors)")
        let last = try bench.report("resume")
        let undisturbed = try #require(last.after)
        #expect(bench.subject.allows(undisturbed) && undisturbed.rows.allSatisfy { $0.state == .clean })
        let kept = try bench.kept()
        #expect(!kept.contains("localdata.batch"), "\(kept)")
        let all = ServerMigrationPoint.Mode.allCases.flatMap { mode in
            (1...messages).map { ServerMigrationPoint(mode: mode, number: $0) }
        }
        var generator = description.generator
        let points = TestRun.sample(Self.sample, of: all, using: &generator)
        FaultCampaign(operation: description, sample: Self.sample)
            .attempt(points, of: all.count, calls: messages) { point, place in
                try check(bench, point, undisturbed, kept, place)
            }
    }

    private func check(
        _ bench: ServerMigrationBench, _ point: ServerMigrationPoint, _ undisturbed: ExerciseLook, _ kept: String,
        _ place: String
    ) throws {
        try bench.reset()
        let (run, messages) = try bench.run("run", point)
        let what = "\(place): status \(run.ending.status), \(run.ending.errors)"
        // The number of messages varies from run to run, since waiting for another process takes some.
        let isHit = messages >= point.number
        if isHit, point.mode.kills { #expect(run.ending.status == 128 + SIGKILL, "not killed; \(what)") }
        if !point.mode.kills { #expect([0, 2].contains(run.ending.status), "an unexpected end; \(what)") }
        let checks = MigrationChecks(subject: bench.subject, what: what)
        if let report = run.report, let found = report.after {
            checks.checkValues(found)
            if report.run?.isUnknown != true { try checks.checkEnding(report.run, found: found) }
        }
        let next = try bench.report(point.number.isMultiple(of: 2) ? "ask" : "resume")
        checks.checkValues(try #require(next.before))
        try checks.checkValue(next.got)
        #expect(next.run?.error == nil, "cannot be resumed: \(next.run?.error ?? ""); \(what)")
        #expect(next.after == undisturbed, "\(String(describing: next.after)); \(what)")
        #expect(next.again?.value == "nothing to do", "\(String(describing: next.again)); \(what)")
        #expect(next.callsAgain == 0, "another run makes \(next.callsAgain ?? -1) calls; \(what)")
        // The number of chunks in which values have moved does not matter.
        let keptNow = try bench.kept()
        let isAsBefore = !bench.subject.isInParts ? keptNow == kept : !keptNow.contains("localdata.batch")
        #expect(isAsBefore, "the host keeps in the database: \(keptNow); \(what)")
    }

    private static let cases: [MigrationCase] = {
        let all = MigrationCase.kinds.flatMap { kind in
            ExercisePlace.lasting.flatMap { place in
                [
                    MigrationCase(kind: kind, source: place, destination: .server),
                    MigrationCase(kind: kind, source: .server, destination: place),
                ]
            } + [MigrationCase(kind: kind, source: .server, destination: .server)]
        }
        guard !TestRun.isTorture else { return all.filter(\.isWanted) }
        var generator = SeededGenerator(seed: TestRun.seed)
        return MigrationCase.kinds.compactMap { kind in
            all.filter { $0.kind == kind }.randomElement(using: &generator)
        }
    }()
}
