internal import Synchronization

/// The keys to which steps move or store values, and which of them remain at the end: those must be settings.
struct ContainerTrace: Sendable {
    /// The remaining destinations, with the step that named each.
    private(set) var destinations: [String: String] = [:]

    /// A value is stored under a key.
    mutating func write(_ name: String, by step: String) { destinations[name] = step }

    /// A key has no value any more.
    mutating func take(_ name: String) { destinations[name] = nil }

    /// Values move to other keys, all at once.
    mutating func rename(_ moves: [(from: String, to: String)], by step: String) {
        for move in moves { take(move.from) }
        for move in moves { write(move.to, by: step) }
    }

    /// All keys behind a prefix move. What is there besides them is none of its destinations: a prefix may have keys
    /// that no setting ever had.
    mutating func shift(_ shift: ContainerShift) {
        for (name, step) in destinations {
            guard let new = shift.destination(of: name) else { continue }
            destinations[name] = nil
            destinations[new] = step
        }
    }

    /// - Throws: `validationFailed` if a destination is not the key of a setting, nor declared as another key.
    func requireSettings(of container: ContainerDefinition) throws(MigrationError) {
        // Without a setting, nothing is known about the keys.
        guard !container.properties.isEmpty else { return }
        let others = Set(container.otherNames)
        let strays = destinations.filter { !container.isSetting($0.key) && !others.contains($0.key) }
        guard let (name, step) = strays.min(by: { $0.key < $1.key }) else { return }
        throw MigrationError(
            .validationFailed,
            "the container '\(container.name)' has \(step), which moves or stores a value to "
                + "'\(container.store)/\(name)', the key of no setting, so nothing would read it; "
                + "\(Self.suggestion(for: name, container))remove the value in a step, or name the key in otherKeys")
    }

    private static func suggestion(for name: String, _ container: ContainerDefinition) -> String {
        func last(_ key: String) -> String { String(key.split(separator: ".").last ?? "") }
        let names = container.properties.flatMap { [$0.name, last($0.key)] }
        guard let near = EditDistance.nearest(to: last(name), in: names, within: 2),
            let property = container.properties.first(where: { $0.name == near || last($0.key) == near })
        else { return "" }
        return "did you mean '\(near)', whose key is '\(property.key)'? Otherwise "
    }
}

/// A trace that several steps share.
package final class SharedContainerTrace: Sendable {
    /// The trace of all steps that are tried out in this task.
    @TaskLocal package static var current: SharedContainerTrace?

    private let state = Mutex(ContainerTrace())

    package init() {}

    var trace: ContainerTrace { state.withLock { $0 } }

    func write(_ name: String, by step: String) { state.withLock { $0.write(name, by: step) } }
    func take(_ name: String) { state.withLock { $0.take(name) } }
    func rename(_ moves: [(from: String, to: String)], by step: String) {
        state.withLock { $0.rename(moves, by: step) }
    }
    func shift(_ shift: ContainerShift) { state.withLock { $0.shift(shift) } }
}
