import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

/// An empty folder and home, as a new author has them, with the `ld-host` that was built with these tests.
struct Workspace {
    let path: String
    var home: String { "\(path)/home" }

    init() throws {
        path = try TemporaryFolder.make(named: "localdata-author")
        try TemporaryFolder.makeFolder("\(path)/home")
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    func text(_ file: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: "\(path)/\(file)")), as: UTF8.self)
    }

    func write(_ text: String, to file: String) throws {
        let url = URL(filePath: "\(path)/\(file)")
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    func names(in folder: String = "") throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)"))
    }

    /// Runs a program in the folder. Of this process's environment it inherits only the search path.
    func run(_ program: String, _ arguments: [String]) throws -> ConsoleSession.Outcome {
        let inherited = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let end = try ChildProcess(
            "/usr/bin/env", arguments: ["--chdir=\(path)", program] + arguments,
            environment: ["PATH": "\(BuiltProducts.folder):\(inherited)", "HOME": home]
        ).run(deadline: .seconds(900))
        guard case .exited(let status) = end.outcome else {
            throw TestFailure("\(program) \(arguments): \(end.outcome)")
        }
        return ConsoleSession.Outcome(
            output: String(decoding: end.output, as: UTF8.self), errors: String(decoding: end.errorTail, as: UTF8.self),
            status: status)
    }

    /// Runs `ld-host`.
    func host(_ arguments: String...) throws -> ConsoleSession.Outcome { try run("ld-host", arguments) }
}
