internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

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
