import FoundationEssentials
import TestSupport

/// Programs that run next to a test, each under a name, until they are killed. They end with the object, and with this
/// process.
final class Supervisor: Sendable {
    private struct Order: Encodable {
        let name: String
        var words: [String]?
        var environment: [String: String]?
        var output: String?
    }

    private let companion: Companion

    init() throws {
        companion = try Companion(
            "/usr/bin/python3", ["\(Repository.tests)/CommandLineTests/Programs/supervisor.py"],
            environment: ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"])
    }

    /// Starts a program, and replaces the one that has the name.
    ///
    /// - Parameter output: The file that its output is appended to. What it writes to standard error is appended to the
    ///   file with this name and `.errors`.
    func start(_ name: String, _ words: [String], environment: [String: String], output: String) throws {
        try send(Order(name: name, words: words, environment: environment, output: output))
    }

    /// Kills a program and all its child processes at once, as a power failure would.
    ///
    /// - Throws: An error if the program has already failed.
    func kill(_ name: String) throws { try send(Order(name: name)) }

    private func send(_ order: Order) throws {
        try companion.send(String(decoding: try JSONEncoder().encode(order), as: UTF8.self))
    }
}
