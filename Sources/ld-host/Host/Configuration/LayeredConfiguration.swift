internal import LocalDataAPI

/// Configuration from several sources, of which later ones win: objects are merged member by member, everything else
/// is replaced. Each value remembers its source.
package struct LayeredConfiguration: Sendable {
    /// From the weakest to the strongest.
    package private(set) var layers: [ConfigurationLayer]

    /// Joins layers, given from the weakest to the strongest.
    package init(layers: [ConfigurationLayer]) { self.layers = layers }

    /// All values, merged.
    package var effective: JSONValue {
        layers.reduce(.object([:])) { Self.merge($0, $1.value) }
    }

    /// The value at a path, merged, and the strongest source that has something there.
    package func value(at path: [String]) -> (value: JSONValue, origin: ConfigurationOrigin)? {
        var result: (value: JSONValue, origin: ConfigurationOrigin)?
        for layer in layers {
            guard let value = layer.value[path] else { continue }
            let merged = result.map { Self.merge($0.value, value) } ?? value
            result = (merged, layer.origin(of: path))
        }
        return result
    }

    /// Every value that is no object, by its path, in order of the paths.
    package var leaves: [(path: ConfigurationPath, value: JSONValue, origin: ConfigurationOrigin)] {
        var found: [(ConfigurationPath, JSONValue, ConfigurationOrigin)] = []
        func visit(_ value: JSONValue, _ path: [String]) {
            if case .object(let members) = value, !members.isEmpty {
                for key in members.keys.sorted() { visit(members[key] ?? .null, path + [key]) }
            } else if let (value, origin) = self.value(at: path) {
                found.append((ConfigurationPath(path), value, origin))
            }
        }
        visit(effective, [])
        return found.filter { !$0.0.segments.isEmpty }
    }

    /// The text at a path.
    package func string(at path: [String]) -> String? {
        guard case .string(let text)? = value(at: path)?.value else { return nil }
        return text
    }

    /// The number at a path.
    package func double(at path: [String]) -> Double? {
        switch value(at: path)?.value {
        case .integer(let number)?: Double(number)
        case .double(let number)?: number
        default: nil
        }
    }

    /// The member names at a path, in order.
    package func keys(at path: [String]) -> [String] {
        guard case .object(let members)? = value(at: path)?.value else { return [] }
        return members.keys.sorted()
    }

    /// Sets a value in the strongest layer, which is code.
    package mutating func set(_ value: JSONValue, at path: [String]) {
        if layers.last?.layer != .code { layers.append(ConfigurationLayer(.code, value: .object([:]))) }
        let last = layers.count - 1
        layers[last].value = layers[last].value.setting(value, at: path)
    }

    private static func merge(_ weak: JSONValue, _ strong: JSONValue) -> JSONValue {
        guard case .object(var members) = weak, case .object(let others) = strong else { return strong }
        for (key, value) in others { members[key] = members[key].map { merge($0, value) } ?? value }
        return .object(members)
    }
}
