internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import LocalDataAPI

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

/// A child's progress through the checks, one line of JSON per event.
enum ConformanceEvent: Codable, Sendable {
    case began(String)
    case ended(ConformanceResult)
}

/// How another process opens the same store: with `ld-host`, the plugin's file, and the same options.
struct PeerProgram: Sendable {
    let program: String
    let file: String
    let component: String
    let options: [String: ComponentOption.Value]

    /// Runs a script in a new process and returns its answers; none if the script ends the process.
    func run(_ script: PeerScript) throws -> [String] {
        let order = ConformanceOrder(file: file, component: component, options: options, task: .script(script))
        let end = try order.run(by: program, deadline: .seconds(30))
        let dies = script.steps.contains { if case .die = $0 { true } else { false } }
        switch end.outcome {
        case .exited(0) where !dies: break
        case .signalled(9, _) where dies: return []
        default:
            throw ConformanceFailure(
                "another process with the same options \(end.outcome): \(end.errorText.suffix(400))")
        }
        guard let answers = try? JSONDecoder().decode([String].self, from: Data(end.output)) else {
            throw ConformanceFailure("another process with the same options did not answer")
        }
        return answers
    }
}

/// The steps that another process executes on a store, in order.
struct PeerScript: Codable, Sendable {
    let folder: String
    let domain: String
    let scope: String
    let steps: [PeerStep]
}

/// One step of another process. Values are those of ``Pattern``, by seed and size.
enum PeerStep: Codable, Sendable {
    case set(name: String, seed: UInt64, size: Int)
    case remove(name: String)
    /// Answers `none`, `seed N`, or `damaged`.
    case read(name: String)
    /// Stores different values under one name, repeatedly.
    case replace(name: String, size: Int, times: Int)
    /// Stores values under `prefix0`, `prefix1` and so on, with the numbers as seeds.
    case fill(prefix: String, size: Int, count: Int)
    /// Ends the process at once, as a crash does.
    case die
}
