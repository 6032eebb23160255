import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import MigrationExercise
import TestSupport
import Testing

/// Migrations to and from the memory store. Each call that changes data, state or configuration fails once. The process
/// stays alive, since the values end with it. See ``MigrationPoint/chosen(of:_:sample:_:)``.
@Suite("Migrations to and from memory under faults")
struct VolatileMigrationCampaignTests {
    /// A number of points of one case that take about 0.4 s.
    private static let sample = 4

    @Test("an error at any call loses nothing, and the next run completes the migration", arguments: cases)
    func campaign(_ description: MigrationCase) throws {
        let bench = try MigrationBench(description)
        let calls = try bench.calls(of: "whole")
        var generator = description.generator
        let (chosen, all) = MigrationPoint.chosen(of: calls, killing: false, sample: Self.sample, &generator)
        // A store that stays broken cannot be resumed in the same process.
        let points = chosen.filter { !$0.isLasting }
        FaultCampaign(operation: description, sample: Self.sample)
            .attempt(points, of: all, calls: calls.names.count) { point, place in try check(bench, point, place) }
    }

    private func check(_ bench: MigrationBench, _ point: MigrationPoint, _ place: String) throws {
        try bench.reset()
        let (run, reached) = try bench.run(point, of: "whole")
        let hit = try #require(reached, "\(place): the call was not reached")
        let what = "\(place): \(hit): status \(run.ending.status), \(run.ending.errors)"
        let report = try #require(run.report, "no report; \(what)")
        let checks = MigrationChecks(subject: bench.subject, what: what)
        let found = try #require(report.before)
        // The next change completes a batch that was decided and interrupted.
        if !found.debris.contains(where: { $0.hasSuffix(".intent") }) {
            checks.checkValues(found)
            try checks.checkEnding(report.run, found: found)
        }
        try checks.checkValue(report.got)
        #expect(report.again?.error == nil, "cannot be resumed: \(report.again?.error ?? ""); \(what)")
        let after = try #require(report.after)
        #expect(after.rows.map(\.id) == bench.subject.ids && after.rows.allSatisfy { $0.state == .clean }, "\(what)")
        checks.checkValues(after)
        #expect(after.debris == [], "\(what)")
        #expect(report.callsAgain == 0, "another run makes \(report.callsAgain ?? -1) calls; \(what)")
    }

    /// All of them with `LOCALDATA_TORTURE=1`, otherwise one of each kind.
    private static let cases: [MigrationCase] = {
        let all = MigrationCase.kinds.flatMap { kind in
            ExercisePlace.allCases.flatMap { source in
                ExercisePlace.allCases.map { MigrationCase(kind: kind, source: source, destination: $0) }
            }
        }.filter {
            let places = [$0.source, $0.destination]
            return places.contains(.memory) && !places.contains(.server)
        }
        guard !TestRun.isTorture else { return all }
        var generator = SeededGenerator(seed: TestRun.seed)
        return ExerciseKind.allCases.compactMap { kind in
            all.filter { $0.kind == kind }.randomElement(using: &generator)
        }
    }()
}
