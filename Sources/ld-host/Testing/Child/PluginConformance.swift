internal import FoundationEssentials
package import LocalDataAPI
internal import LocalDataHost

/// Tries a component of a plugin's file in child processes, so that one that crashes or hangs is a result.
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

    /// Tries checks. A crash is the result of the check that was under way, and the checks after it are tried in a new
    /// process; when the time is up, the check under way has failed and the rest are skipped. Blocks the thread.
    ///
    /// - Parameter deadline: How long all of it may take.
    /// - Throws: What keeps a child from starting; what is wrong with the plugin is in the report.
    package func run(_ checks: [ConformanceCheck], deadline: Duration) throws -> ConformanceReport {
        let folder = try ScratchFolder()
        defer { folder.remove() }
        let end = SuspendingClock.now.advanced(by: deadline)
        var results: [ConformanceResult] = []
        var rest = checks
        while !rest.isEmpty {
            let left = end - SuspendingClock.now
            guard left > .zero else {
                results += rest.map { ConformanceResult($0, .skipped, "the time of \(deadline) was up") }
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
                // Nothing was under way: the end of the last store was.
                results.removeAll { $0.id == last.id }
                rest = [last]
            }
            results.append(Self.failure(in: &rest, began: began, completion, deadline: deadline))
        }
        let order = Dictionary(uniqueKeysWithValues: checks.enumerated().map { ($0.element.id, $0.offset) })
        results.sort { order[$0.id, default: 0] < order[$1.id, default: 0] }
        return ConformanceReport(component: component, source: file, results: results)
    }

    /// The failure that a child's end means, for the check under way or, if none was, for the first that was left.
    private static func failure(
        in rest: inout [ConformanceCheck], began: String?, _ completion: ChildProcess.Completion, deadline: Duration
    ) -> ConformanceResult {
        let index = rest.firstIndex { $0.id == began } ?? rest.startIndex
        let check = rest.remove(at: index)
        let said = completion.errorText.split(separator: "\n").last.map { ": \($0.prefix(400))" } ?? ""
        let what =
            switch completion.outcome {
            case .timedOut: "it did not end before the time of \(deadline) was up"
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
