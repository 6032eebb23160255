import LocalDataAPI
import TestSupport

/// A random history of a container: its steps, and the values stored after each. It is computed without the code under
/// test.
struct ContainerHistory {
    /// The values of one location, by stored key.
    typealias Content = [String: String]

    /// The stored values: the container's, and those of the location that steps move values to and from.
    struct Stored: Equatable {
        var here: Content = [:]
        var there: Content = [:]
    }

    let container: ContainerDefinition
    private(set) var steps: [ContainerStep] = []
    /// The stored values at each version, from 1 on.
    private(set) var states: [Stored] = []

    static let here = StorageDomain.custom(name: "here")
    static let there = StorageDomain.custom(name: "there")

    private static let keys = (0..<3).flatMap { group in (0..<4).map { "A.g\(group).k\($0)" } }

    init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...6, using: &generator)
        container = ContainerDefinition(name: "A", version: count + 1, store: Self.here)
        var state = Stored()
        for key in Self.keys where Bool.random(using: &generator) { state.here[key] = "first \(key)" }
        for key in Self.keys.prefix(3) where Bool.random(using: &generator) { state.there[key] = "there \(key)" }
        if state.here.isEmpty { state.here[Self.keys[0]] = "the only one" }
        states = [state]
        for from in 1...count {
            let edits = (0..<Int.random(in: 1...3, using: &generator)).map { number in
                Self.edit(&state, "default \(from).\(number)", &generator)
            }
            steps.append(Self.step(from, edits, isFunction: Bool.random(using: &generator)))
            states.append(state)
        }
    }

    /// The same changes, either declared or made by calls.
    private static func step(_ from: Int, _ edits: [ContainerEdit], isFunction: Bool) -> ContainerStep {
        guard isFunction else { return ContainerStep(from: from, to: from + 1, edits) }
        return ContainerStep(from: from, to: from + 1) { store in
            for edit in edits {
                switch edit {
                case .renames(let renames): try await store.renameAll(renames.map { ($0.from, $0.to) })
                case .prefix(let old, let new): try await store.movePrefix(old, to: new)
                case .remove(let key): try await store.remove(key)
                case .setDefault(let key, let value): try await store.setDefault(value, for: key)
                case .move: try await ContainerStep(from: from, to: from + 1, [edit]).changes?.first?.make(on: store)
                }
            }
        }
    }

    /// Makes a change that is possible in a state, and returns it.
    private static func edit(
        _ state: inout Stored, _ value: String, _ generator: inout SeededGenerator
    ) -> ContainerEdit {
        let key = keys.randomElement(using: &generator) ?? keys[0]
        let free = keys.filter { state.here[$0] == nil }.randomElement(using: &generator)
        switch Int.random(in: 0..<7, using: &generator) {
        case 0:
            guard let free else { break }
            state.here[free] = state.here.removeValue(forKey: key)
            return .rename(.stored(key), to: .stored(free))
        case 1:
            let ring = Array(keys.shuffled(using: &generator).prefix(Int.random(in: 2...4, using: &generator)))
            let old = state.here
            for (index, key) in ring.enumerated() { state.here[ring[(index + 1) % ring.count]] = old[key] }
            return .renames(
                ring.indices.map {
                    ContainerRename(.stored(ring[$0]), to: .stored(ring[($0 + 1) % ring.count]))
                })
        case 2:
            let groups = (0..<3).shuffled(using: &generator)
            let (from, to) = ("A.g\(groups[0]).", "A.g\(groups[1]).")
            guard (0..<4).allSatisfy({ state.here["\(from)k\($0)"] == nil || state.here["\(to)k\($0)"] == nil }) else {
                break
            }
            for number in 0..<4 {
                guard let value = state.here.removeValue(forKey: "\(from)k\(number)") else { continue }
                state.here["\(to)k\(number)"] = value
            }
            return .movePrefix(from, to: to)
        case 3:
            state.here[key] = nil
            return .remove(.stored(key))
        case 4:
            guard state.there[key] == nil else { break }
            state.there[key] = state.here.removeValue(forKey: key)
            return .move(from: key, to: "there/\(key)")
        case 5:
            guard let free, let taken = state.there.removeValue(forKey: key) else { break }
            state.here[free] = taken
            return .move(from: "there/\(key)", to: free)
        default: break
        }
        if state.here[key] == nil { state.here[key] = value }
        return .setDefault(.stored(key), AnyCodable(value))
    }
}
