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

/// The shapes of the containers in the release that runs.
enum HistoryShapes {
    @TaskLocal static var current: [HistoryShape] = []

    static subscript(slot: Int) -> HistoryShape { current.indices.contains(slot) ? current[slot] : HistoryShape() }
}

/// Tells the containers of one release apart.
protocol HistorySlot: Sendable, SendableMetatype { static var number: Int { get } }
enum HistoryFirstSlot: HistorySlot { static let number = 0 }
enum HistorySecondSlot: HistorySlot { static let number = 1 }

/// A container whose declaration is that of the release that runs.
struct HistoryContainer<Slot: HistorySlot>: UserDefaultsContainer, CustomReflectable {
    private static var shape: HistoryShape { HistoryShapes[Slot.number] }

    static var version: Int { shape.version }
    static var prefix: String { shape.prefix }
    static var name: String { shape.name }
    static var baseline: Int { shape.baseline }
    static var steps: [ContainerStep] { shape.containerSteps }
    static var formerNames: [String] { shape.isUndeclared ? [] : shape.formerNames }
    static var versionKey: ContainerVersionKey {
        ContainerVersionKey(
            "\(shape.branch).__version",
            formerly: shape.isUndeclared ? [] : shape.formerKeys.map { ContainerVersionKey($0) })
    }
    static var migratesAfter: [any UserDefaultsContainer.Type] {
        Slot.number == 1 && HistoryShapes.current.count > 1 ? [HistoryContainer<HistoryFirstSlot>.self] : []
    }

    private let numbers: [String: Setting<Int>]
    private let texts: [String: Setting<String>]

    init() {
        let properties = Self.shape.properties
        numbers = Dictionary(
            uniqueKeysWithValues: properties.filter { !$0.isText }.map { ($0.name, Setting(wrappedValue: -1)) })
        texts = Dictionary(
            uniqueKeysWithValues: properties.filter(\.isText).map {
                ($0.name, Setting(wrappedValue: String(history: -1)))
            })
    }

    var customMirror: Mirror {
        let numbers = numbers.map { (label: "_\($0)", value: $1 as Any) }
        return Mirror(self, children: numbers + texts.map { (label: "_\($0)", value: $1 as Any) })
    }

    /// The number in a setting; `nil` if it has its default.
    subscript(property: String) -> Int? {
        let number = numbers[property]?.wrappedValue ?? texts[property]?.wrappedValue.historyNumber
        return number == -1 ? nil : number
    }

    func set(_ number: Int, _ property: String) {
        numbers[property]?.wrappedValue = number
        texts[property]?.wrappedValue = String(history: number)
    }

    func save(_ property: String) async throws {
        try await numbers[property]?.projectedValue.save()
        try await texts[property]?.projectedValue.save()
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
