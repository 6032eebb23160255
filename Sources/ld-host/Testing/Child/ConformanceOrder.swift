internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// What a child process is to do, as JSON on its standard input.
package struct ConformanceOrder: Codable, Sendable {
    /// The command that asks `ld-host` for it.
    package static let command = "__conformance"

    enum Task: Codable, Sendable {
        /// Try these checks, in stores below the folder; print an event a line.
        case checks([String], folder: String, program: String)
        /// Act as the other process of a check; print its answers.
        case script(PeerScript)
    }
    let file: String
    let component: String
    let options: [String: ComponentOption.Value]
    let task: Task

    /// Starts the program and waits for it.
    func run(by program: String, deadline: Duration) throws -> ChildProcess.Completion {
        // The whole environment goes along: a store may need to know where a home folder or a message bus is.
        var environment = ProcessInfo.processInfo.environment
        environment["SWIFT_BACKTRACE"] = "enable=no"
        return try ChildProcess(
            program, arguments: [Self.command], environment: environment, input: Array(try JSONEncoder().encode(self))
        ).run(deadline: deadline)
    }
}
