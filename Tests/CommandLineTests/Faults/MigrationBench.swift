import CLinux
import FoundationEssentials
import Glibc
import MigrationExercise
import TestSupport

/// A home in which one case of migrations can be tried again and again from the same state, under the fault injector.
final class MigrationBench {
    let subject: ExerciseCase
    let home: Home
    private let words: [String]
    private let library: String
    private let server: ExerciseServer

    private static let folders = ["data", "state", "config"]
    /// The plugins that the cases use.
    private static let served = ["FileStore", "MemoryStore", "SQLiteStore", "OpenSSLCrypto"]

    /// The plugin registry, prepared once, so that a point concerns only the migration.
    private static let plugins = Result {
        let home = try Home()
        _ = try home.run("plugins", "list")
        return home
    }

    /// The folder of the homes. It is in memory, if files have attributes there: a kill leaves the page cache behind on
    /// any file system, and a sync is slow on most.
    private static let folder: String = {
        let path = "/dev/shm"
        var name = Array("\(path)/localdata-cli.XXXXXX".utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else { return "/tmp" }
        defer {
            close(file)
            unlink(name)
        }
        return fsetxattr(file, "user.localdata", "", 0, 0) == 0 ? path : "/tmp"
    }()

    /// Stores the values of the state before, if they outlive a process.
    init(_ description: MigrationCase) throws {
        subject = try description.kind.make(from: description.source, to: description.destination)
        words = description.words
        library = try FaultShim.library.get()
        home = try Home(in: Self.folder)
        let path = home.path
        server = try ExerciseServer(
            words, in: home, plugins: Self.served,
            adding: [
                "LD_PRELOAD": library, "LD_FAULT_ROOT": Self.folders.map { "\(path)/\($0)" }.joined(separator: ":"),
            ])
        try shell("cp -a '\(try Self.plugins.get().path)/cache' cache")
        if ![description.source, description.destination].contains(.memory) { _ = try run("prepare") }
        try shell("mkdir before; for i in \(Self.list); do if test -e $i; then mv $i before/$i; fi; done")
    }

    private static var list: String { folders.joined(separator: " ") }
    private var log: String { "\(home.path)/log" }
    private var count: String { "\(home.path)/count" }

    /// Restores the state before.
    func reset() throws { try shell("rm -rf \(Self.list) log; cp -a before/. .") }

    /// Runs a command of the program, whose report is needed.
    func run(_ command: String) throws -> ExerciseReport {
        // The counter continues, and is never reset.
        unlink(log)
        let run = try server.run(command, faults: ["LD_FAULT_COUNT": count, "LD_FAULT_LOG": log])
        guard let report = run.report, run.ending.errors.isEmpty else {
            throw TestFailure("\(command): status \(run.ending.status), \(run.ending.errors)")
        }
        return report
    }

    /// The calls of an undisturbed migration.
    func calls(of command: String = "run") throws -> MigrationCalls {
        try reset()
        unlink(count)
        let report = try run(command)
        guard report.run?.value == "migrated", let last = report.callsAfter else {
            throw TestFailure("\(words) ended with \(String(describing: report.run))")
        }
        let first = (report.callsBefore ?? 0) + 1
        let names = try FaultShim.calls(in: log).dropFirst(first - 1).prefix(last - first + 1).map(\.name)
        guard names.count == last - first + 1 else {
            throw TestFailure("the fault injector counted \(last) calls and wrote \(names.count) of them")
        }
        return MigrationCalls(numbers: first...last, names: names)
    }

    /// Migrates from the current state, disturbed at a point. Returns also the call that was hit, if it was reached.
    func run(_ point: MigrationPoint, of command: String = "run") throws -> (
        run: ExerciseServer.Run, hit: FaultShim.Call?
    ) {
        unlink(log)
        let run = try server.run(command, faults: variables(of: point))
        return (run, try FaultShim.calls(in: log).dropFirst(point.number - 1).first)
    }

    /// Runs two migrations at once, from the current state.
    ///
    /// - Parameter point: Where one of them is disturbed.
    /// - Returns: The report of each; `nil` for one that was killed.
    func race(_ point: MigrationPoint? = nil) throws -> [ExerciseReport?] {
        unlink(log)
        let command = "'\(ExerciseServer.program)' \(words.joined(separator: " ")) run"
        let disturbed = point.map { injector(variables(of: $0)).map { "\($0)='\($1)'" }.joined(separator: " ") } ?? ""
        let ending = try home.shell(
            """
            rm -f runs
            \(disturbed) \(command) > report.1 & first=$!
            \(command) > report.2 & second=$!
            wait $first; echo $?
            wait $second; echo $?
            """, adding: ["EXERCISE_RUNS": "\(home.path)/runs"])
        return try ending.text.split(separator: "\n").enumerated().map { index, status in
            guard status != "137" else { return nil }
            guard status == "0" else { throw TestFailure("status \(status): \(ending.errors)") }
            return try JSONDecoder().decode(
                ExerciseReport.self, from: Data(contentsOf: URL(filePath: "\(home.path)/report.\(index + 1)")))
        }
    }

    /// The number of migrations that have run in the race.
    func runs() throws -> Int { try Data(contentsOf: URL(filePath: "\(home.path)/runs")).count }

    private func variables(of point: MigrationPoint) -> [String: String] {
        [
            "LD_FAULT_LOG": log, "LD_FAULT_AT": String(point.number), "LD_FAULT_MODE": point.mode.rawValue,
            "LD_FAULT_EVERY": point.isLasting ? "1" : "0",
        ]
    }

    private func injector(_ variables: [String: String]) -> [String: String] {
        let roots = Self.folders.map { "\(home.path)/\($0)" }.joined(separator: ":")
        return variables.merging(["LD_PRELOAD": library, "LD_FAULT_ROOT": roots]) { $1 }
    }

    private func shell(_ line: String) throws {
        let ending = try home.shell(line)
        guard ending.status == 0 else { throw TestFailure(ending.errors) }
    }
}
