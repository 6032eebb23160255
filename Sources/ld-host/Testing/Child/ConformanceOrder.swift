internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// The order for a child process, as JSON on its standard input.
package struct ConformanceOrder: Codable, Sendable {
    /// The `ld-host` command that executes an order.
    package static let command = "__conformance"

    enum Task: Codable, Sendable {
        /// Run these checks, in stores below the folder; print one event per line.
        case checks([String], folder: String, program: String)
        /// Act as the other process of a check; print the answers.
        case script(PeerScript)
    }
    let file: String
    let component: String
    let options: [String: ComponentOption.Value]
    let task: Task

    /// Starts the program and waits for it.
    func run(by program: String, deadline: Duration) throws -> ChildProcess.Completion {
        // The child gets the whole environment: a store may need the path of a home folder or a message bus.
        var environment = ProcessInfo.processInfo.environment
        environment["SWIFT_BACKTRACE"] = "enable=no"
        return try ChildProcess(
            program, arguments: [Self.command], environment: environment, input: Array(try JSONEncoder().encode(self))
        ).run(deadline: deadline)
    }
}
