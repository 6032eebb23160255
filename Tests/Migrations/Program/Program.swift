internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost
internal import MigrationExercise

/// Runs migrations of one kind from one location to another in its environment, for tests that disturb it:
/// `migration-exercise KIND SOURCE DESTINATION COMMAND`, where the command is `prepare`, `run`, `resume`, `ask` or
/// `whole`. Writes a report as JSON.
@main
struct Program {
    static func main() {
        var words = Array(CommandLine.arguments.dropFirst())
        if words.first == "serve" { words = Server.serve(plugins: Array(words.dropFirst())) }
        do { try IOExecutor.blocking { [words] in try await run(words) } } catch {
            write("migration-exercise: error: \(error)\n", to: STDERR_FILENO)
            exit(2)
        }
    }

    private static func run(_ words: [String]) async throws {
        if words.count == 2, words[0] == "own" { return try await setOwn(words[1]) }
        // Works on the data of no app, as ld-host beside it does.
        await StorageRouter.shared.updateStorageConfiguration(StorageConfiguration(appIdentifier: ""))
        if try await count(words) { return }
        if try await Editor.run(words) { return }
        if try await Follower.run(words) { return }
        if words.count == 2, words[0] == "write" { return await Writer.write(words[1]) }
        if words.count == 2, words[0] == "check" { return try await Writer.check(words[1]) }
        guard let report = try await report(words) else {
            write("migration-exercise: error: expected KIND SOURCE DESTINATION COMMAND\n", to: STDERR_FILENO)
            exit(64)
        }
        write(String(decoding: try JSONEncoder().encode(report), as: UTF8.self), to: STDOUT_FILENO)
    }

    /// `migration-exercise own NAME` stores a value as an app does that names no identity.
    private static func setOwn(_ name: String) async throws {
        let key = StorageKey<String>(
            name: name, domain: .userDefaults(), security: .none, owner: "Tests", description: "The app's own.")
        try await StorageRouter.shared.set("own", for: key)
    }

    /// `migration-exercise count TIMES` adds to one counter that often. `create ROUNDS NAME` competes in each round to
    /// create a value first, and prints the numbers of the rounds that it won.
    private static func count(_ words: [String]) async throws -> Bool {
        guard words.count >= 2, let times = Int(words[1]) else { return false }
        func key(_ name: String) -> StorageKey<Int> {
            StorageKey(
                name: name, domain: .userDefaults(suite: "count"), security: .none, owner: "Tests",
                description: "A count.")
        }
        switch words[0] {
        case "count":
            for _ in 0..<times { try await StorageRouter.shared.update(key("counter")) { $0 = ($0 ?? 0) + 1 } }
        case "create":
            for round in 0..<times {
                do {
                    try await StorageRouter.shared.create(round, for: key("round-\(round)"))
                    write("\(round)\n", to: STDOUT_FILENO)
                } catch StorageError.conflict {}
            }
        default: return false
        }
        return true
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

    static func write(_ text: String, to file: Int32) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(file, bytes, bytes.count)
    }
}
