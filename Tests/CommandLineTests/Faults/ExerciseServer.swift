import FoundationEssentials
import MigrationExercise
import TestSupport

/// `migration-exercise serve` in a home: runs commands for one case of migrations, each in a process of its own.
final class ExerciseServer {
    /// One run of the program.
    struct Run {
        let ending: Home.Ending
        /// The program's report; `nil` if it was killed or failed before.
        let report: ExerciseReport?
    }

    /// The program under test.
    static let program = "\(BuiltProducts.folder)/migration-exercise"

    private let words: [String]
    private let home: Home
    private let companion: Companion

    /// Starts the program with plugins loaded, so that a run does not have to load them.
    init(_ words: [String], in home: Home, plugins: [String], adding variables: [String: String]) throws {
        self.words = words
        self.home = home
        let plugins = plugins.map { "\(BuiltProducts.folder)/lib\($0).so" }
        companion = try Companion(
            Self.program, ["serve"] + plugins, environment: home.environment.merging(variables) { $1 })
    }

    /// Runs a command.
    ///
    /// - Parameter faults: The settings of the libraries that disturb it; see ``ExerciseOrder/settings``.
    func run(_ command: String, faults: [String: String]) throws -> Run {
        let (output, errors) = ("\(home.path)/output", "\(home.path)/errors")
        let order = ExerciseOrder(words: words + [command], faults: faults, output: output, errors: errors)
        let answer = try companion.send(String(decoding: try JSONEncoder().encode(order), as: UTF8.self))
        guard let status = Int32(answer.prefix { $0 != "\n" }) else { throw TestFailure(answer) }
        func read(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }
        let written = try read(output)
        let ending = Home.Ending(
            status: status, output: Array(written), errors: String(decoding: try read(errors), as: UTF8.self))
        guard status == 0 else { return Run(ending: ending, report: nil) }
        return Run(ending: ending, report: try JSONDecoder().decode(ExerciseReport.self, from: written))
    }
}
