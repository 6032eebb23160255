import FoundationEssentials
import MigrationExercise
import TestSupport
import Testing

/// A kind of migration between two places, which the campaigns disturb.
struct MigrationCase: Sendable, CustomTestStringConvertible {
    let kind: ExerciseKind
    let source: ExercisePlace
    let destination: ExercisePlace

    var testDescription: String { "\(kind.rawValue) from \(source.rawValue) to \(destination.rawValue)" }

    /// The arguments of the program.
    var words: [String] { [kind.rawValue, source.rawValue, destination.rawValue] }

    /// Random numbers for this case.
    var generator: SeededGenerator {
        SeededGenerator(seed: testDescription.utf8.reduce(TestRun.seed) { $0 &* 31 &+ UInt64($1) })
    }

    /// The kinds that `LOCALDATA_KINDS` lists, separated by commas, or all.
    static let kinds = ExerciseKind.allCases.filter { TestRun.isWanted($0.rawValue, in: "LOCALDATA_KINDS") }

    /// Whether `LOCALDATA_PLACES` lists both places or is unset.
    var isWanted: Bool {
        [source, destination].allSatisfy { TestRun.isWanted($0.rawValue, in: "LOCALDATA_PLACES") }
    }

    /// Every kind between every two places that outlive a process.
    static let all = kinds.flatMap { kind in
        ExercisePlace.lasting.flatMap { source in
            ExercisePlace.lasting.map { MigrationCase(kind: kind, source: source, destination: $0) }
        }
    }

    /// Every kind between the folders of one store.
    static let apart = kinds.flatMap { kind in
        ExercisePlace.apart.map { MigrationCase(kind: kind, source: $0, destination: $1) }
    }

    /// All of them with `LOCALDATA_TORTURE=1`, otherwise three of each kind, the same for the same `LOCALDATA_SEED`.
    static let chosen: [MigrationCase] = {
        guard !TestRun.isTorture else { return (all + apart).filter(\.isWanted) }
        var generator = SeededGenerator(seed: TestRun.seed)
        return ExerciseKind.allCases.flatMap { kind in
            all.filter { $0.kind == kind }.shuffled(using: &generator).prefix(2)
                + apart.filter { $0.kind == kind }.shuffled(using: &generator).prefix(1)
        }
    }()
}
