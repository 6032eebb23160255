internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
package import LocalDataAPI

/// Tests a component of a plugin file in child processes, so that a crash or a hang is a result.
package struct PluginConformance: Sendable {
    private let program: String
    private let file: String
    private let component: String
    private let options: [String: ComponentOption.Value]

    /// - Parameter program: The `ld-host` to start.
    package init(program: String, file: String, component: String, options: [String: ComponentOption.Value]) {
        self.program = program
        self.file = file
        self.component = component
        self.options = options
    }

    /// Runs checks. A crash fails the check that was running; a new process runs the checks after it. When the time is
    /// up, the running check fails and the rest are skipped. Blocks the thread.
    ///
    /// - Parameter deadline: The time limit for all checks.
    /// - Throws: Why a child cannot start. Faults of the plugin are in the report.
    package func run(_ checks: [ConformanceCheck], deadline: Duration) throws -> ConformanceReport {
        let folder = try ScratchFolder()
        defer { folder.remove() }
        let end = SuspendingClock.now.advanced(by: deadline)
        var results: [ConformanceResult] = []
        var rest = checks
        while !rest.isEmpty {
            let left = end - SuspendingClock.now
            guard left > .zero else {
                results += rest.map { ConformanceResult($0, .skipped, "the time limit of \(deadline) was reached") }
                break
            }
            let order = ConformanceOrder(
                file: file, component: component, options: options,
                task: .checks(rest.map(\.id), folder: folder.path, program: program))
            let completion = try order.run(by: program, deadline: left)
            let (ended, began) = Self.events(in: completion.output)
            results += ended
            rest.removeAll { check in ended.contains { $0.id == check.id } }
            if rest.isEmpty, case .exited(0) = completion.outcome { break }
            if rest.isEmpty, let last = checks.last {
                // No check was running: closing the last store crashed.
                results.removeAll { $0.id == last.id }
                rest = [last]
            }
            results.append(Self.failure(in: &rest, began: began, completion, deadline: deadline))
        }
        let order = Dictionary(uniqueKeysWithValues: checks.enumerated().map { ($0.element.id, $0.offset) })
        results.sort { order[$0.id, default: 0] < order[$1.id, default: 0] }
        return ConformanceReport(component: component, source: file, results: results)
    }

    /// The failure for a child that ended, of the running check or, if none was running, of the first remaining one.
    private static func failure(
        in rest: inout [ConformanceCheck], began: String?, _ completion: ChildProcess.Completion, deadline: Duration
    ) -> ConformanceResult {
        let index = rest.firstIndex { $0.id == began } ?? rest.startIndex
        let check = rest.remove(at: index)
        let said = completion.errorText.split(separator: "\n").last.map { ": \($0.prefix(400))" } ?? ""
        let what =
            switch completion.outcome {
            case .timedOut: "it did not end before the time limit of \(deadline)"
            case .signalled(let signal, let name): "it crashed the process with signal \(signal) (\(name))"
            case .exited(let code): "it ended the process with exit status \(code)"
            }
        return ConformanceResult(check, .failed, what + (began == nil ? ", before any check" : "") + said)
    }

    private static func events(in output: [UInt8]) -> (ended: [ConformanceResult], began: String?) {
        var ended: [ConformanceResult] = []
        var began: String?
        for line in output.split(separator: UInt8(ascii: "\n")) {
            switch try? JSONDecoder().decode(ConformanceEvent.self, from: Data(line)) {
            case .began(let id): began = id
            case .ended(let result):
                ended.append(result)
                began = nil
            case nil: break
            }
        }
        return (ended, began)
    }
}
