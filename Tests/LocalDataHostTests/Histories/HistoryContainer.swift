import LocalDataAPI

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
