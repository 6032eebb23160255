import LocalDataAPI

/// A container as one release declares it.
struct HistoryShape: Hashable, Sendable {
    struct Property: Hashable, Sendable {
        /// The logical setting that it stands for.
        var setting: Int
        var name: String
        var isText = false
    }

    /// A change from one version to the next.
    enum Change: Hashable, Sendable {
        case rename(String, to: String)
        /// Moves all settings to another prefix or name of the container.
        case branch(String, to: String)
        /// Makes text of a number.
        case text(String)
        /// Moves a setting to another container's key, or from one.
        case move(String, to: String)
    }

    var name = "Settings"
    var prefix = ""
    var properties: [Property] = []
    /// The changes that led to each version after the first.
    var steps: [Change] = []
    /// Version keys that it had before.
    var formerKeys: [String] = []
    var formerNames: [String] = []
    /// Whether the code names neither former version keys nor former names.
    var isUndeclared = false
    var baseline = 1

    var version: Int { steps.count + baseline }
    var branch: String { "\(prefix)\(name)" }

    var words: String {
        let list = properties.map { "s\($0.setting) as '\($0.name)'\($0.isText ? " String" : "")" }
        let keys = formerKeys.joined(separator: ", ")
        let former = isUndeclared || formerKeys.isEmpty ? "" : ", version formerly in \(keys)"
        return "container \(branch) version \(version): \(list.joined(separator: ", "))\(former)"
            + (steps.isEmpty ? "" : "; steps \(steps.map { "\($0)" }.joined(separator: ", "))")
    }

    var containerSteps: [ContainerStep] {
        steps.enumerated().map { index, change in
            let from = index + baseline
            switch change {
            case .rename(let old, let new):
                return ContainerStep(from: from, to: from + 1, [.rename(.stored(old), to: .stored(new))])
            case .branch(let old, let new):
                return ContainerStep(from: from, to: from + 1, [.movePrefix("\(old).", to: "\(new).")])
            case .text(let key):
                return ContainerStep(from: from, to: from + 1) { store in
                    guard let number: Int = try await store.get(.stored(key)) else { return }
                    try await store.set(String(history: number), for: .stored(key))
                }
            case .move(let old, let new):
                return ContainerStep(from: from, to: from + 1, [.move(from: old, to: new)])
            }
        }
    }
}

extension HistoryShape {
    /// What kinds of changes it has.
    var changes: [String] {
        steps.map { step in
            switch step {
            case .rename: "rename"
            case .branch: isUndeclared ? "branch, undeclared" : "branch"
            case .text: "text"
            case .move: "move"
            }
        }
    }
}
