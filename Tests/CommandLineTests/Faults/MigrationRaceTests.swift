import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import MigrationExercise
import TestSupport
import Testing

/// Processes that start the same migrations at once. 50 trials of each kind with `LOCALDATA_TORTURE=1`, otherwise some,
/// between places that are the same for the same `LOCALDATA_SEED`.
@Suite("Migrations that several processes start at once")
struct MigrationRaceTests {
    private static let trials = TestRun.isTorture ? 50 : 2

    @Test("both end well, and each migration runs once", arguments: ExerciseKind.allCases)
    func race(_ kind: ExerciseKind) throws {
        var generator = SeededGenerator(seed: TestRun.seed)
        let cases = MigrationCase.all.filter { $0.kind == kind }.shuffled(using: &generator)
        let benches = try cases.prefix(Self.trials).map { try MigrationBench($0) }
        for trial in 0..<Self.trials {
            let bench = benches[trial % benches.count]
            let what = "trial \(trial), \(cases[trial % benches.count].testDescription), seed \(TestRun.seed)"
            try bench.reset()
            let reports = try bench.race().compactMap(\.self)
            #expect(reports.count == 2, "\(what)")
            let outcomes = reports.map { $0.run?.value ?? $0.run?.error ?? "" }.sorted()
            // In a bulk migration, the second process may only have to finish it, or may move a part of the values.
            var second = ["nothing to do"]
            if bench.subject.isInParts { second.append("sources removed") }
            if bench.subject.runs == nil { second.append("migrated") }
            #expect(outcomes.first == "migrated" && second.contains(outcomes[1]), "\(outcomes); \(what)")
            for report in reports {
                #expect(report.got?.value == bench.subject.wanted && report.got?.error == nil, "\(what)")
            }
            if let runs = bench.subject.runs { #expect(try bench.runs() == runs, "\(what)") }
            let next = try bench.run("resume")
            let look = try #require(next.before)
            #expect(look.rows.map(\.id) == bench.subject.ids, "\(what)")
            #expect(look.rows.allSatisfy { $0.state == .clean && $0.revision == 1 }, "\(look.rows); \(what)")
            #expect(bench.subject.allows(look), "\(look); \(what)")
            #expect(look.debris == [] && look == next.after, "\(look); \(what)")
        }
        print("two processes: \(kind.rawValue): \(Self.trials) trials, seed \(TestRun.seed)")
    }

    @Test("a run that waits for another that is killed resumes the rest", arguments: ExerciseKind.allCases)
    func killed(_ kind: ExerciseKind) throws {
        var generator = SeededGenerator(seed: TestRun.seed &+ 1)
        let cases = MigrationCase.all.filter { $0.kind == kind }.shuffled(using: &generator)
        var killed = 0
        for description in cases.prefix(Self.trials) {
            let bench = try MigrationBench(description)
            let calls = try bench.calls()
            let point = MigrationPoint(
                mode: .killAfter, isLasting: false, number: .random(in: calls.numbers, using: &generator))
            let what = "\(description.testDescription), \(point), seed \(TestRun.seed)"
            try bench.reset()
            let reports = try bench.race(point)
            try #require(reports.count == 2, "\(what)")
            if reports[0] == nil { killed += 1 }
            let checks = MigrationChecks(subject: bench.subject, what: what)
            let last = try #require(reports[1], "\(what)")
            #expect(last.run?.error == nil, "\(String(describing: last.run)); \(what)")
            try checks.checkValue(last.got)
            let next = try bench.run("resume")
            let look = try #require(next.before)
            #expect(look.rows.map(\.id) == bench.subject.ids, "\(what)")
            #expect(look.rows.allSatisfy { $0.state == .clean }, "\(look.rows); \(what)")
            checks.checkValues(look)
            #expect(look.debris == [] && look == next.after, "\(look); \(what)")
        }
        print("two processes: \(kind.rawValue): \(killed) killed, seed \(TestRun.seed)")
    }
}
