internal import FoundationEssentials
internal import Glibc
internal import MigrationExercise

/// Runs migrations of one kind from one place to another in its environment, for tests that disturb it:
/// `migration-exercise KIND SOURCE DESTINATION prepare|run|resume|ask|whole`. What came of it is written as JSON.
@main
struct Program {
    static func main() async {
        do {
            guard let report = try await report(Array(CommandLine.arguments.dropFirst())) else {
                write("migration-exercise: error: expected KIND SOURCE DESTINATION COMMAND\n", to: STDERR_FILENO)
                exit(64)
            }
            write(String(decoding: try JSONEncoder().encode(report), as: UTF8.self), to: STDOUT_FILENO)
        } catch {
            write("migration-exercise: error: \(error)\n", to: STDERR_FILENO)
            exit(2)
        }
    }

    private static func report(_ words: [String]) async throws -> ExerciseReport? {
        guard words.count == 4, let kind = ExerciseKind(rawValue: words[0]),
            let source = ExercisePlace(rawValue: words[1]), let destination = ExercisePlace(rawValue: words[2])
        else { return nil }
        let exercise = Exercise(try kind.make(from: source, to: destination))
        switch words[3] {
        case "prepare": return try await exercise.prepare()
        case "run": return try await exercise.run()
        case "resume": return try await exercise.resume(asksFirst: false)
        case "ask": return try await exercise.resume(asksFirst: true)
        case "whole": return try await exercise.whole()
        default: return nil
        }
    }

    private static func write(_ text: String, to file: Int32) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(file, bytes, bytes.count)
    }
}
