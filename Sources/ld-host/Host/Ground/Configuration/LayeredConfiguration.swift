package import LocalDataAPI

/// The configuration as it holds: layers over one another, each value with its origin.
///
/// Objects of several layers merge, member by member; everything else - arrays and `null` too - replaces what weaker
/// layers say. The merge is made once, at `init`; a lookup costs one dictionary access a segment.
package struct LayeredConfiguration: Sendable {
    /// The layers, from the weakest to the strongest.
    package let layers: [ConfigurationLayer]
    private let merged: Merged

    /// Merges layers.
    ///
    /// - Parameter layers: From the weakest to the strongest. Their kinds need not be in that order or unique: each
    ///   flag is a layer.
    package init(layers: [ConfigurationLayer]) {
        self.layers = layers
        var merged = Merged(layer: 0, content: .object([:]))
        for (index, layer) in layers.enumerated() { merged = merged.overlaid(with: layer.value, layer: index) }
        self.merged = merged
    }

    /// The value at a path, with the origin of the strongest layer that has a say in it; nil if no layer has it. An
    /// element of an array goes by its index.
    package func value(at path: [String]) -> (value: JSONValue, origin: ConfigurationOrigin)? {
        var node = merged
        for (depth, segment) in path.enumerated() {
            switch node.content {
            case .object(let members):
                guard let member = members[segment] else { return nil }
                node = member
            case .leaf(let value):
                return value[path[depth...]].map { ($0, origin(of: path, in: node.layer)) }
            }
        }
        return layers.isEmpty ? nil : (node.value, origin(of: path, in: node.layer))
    }

    /// The whole configuration; an object.
    package var effective: JSONValue { merged.value }

    /// The origin of every leaf: all that is no object, and objects without members.
    package var origins: [[String]: ConfigurationOrigin] {
        var origins: [[String]: ConfigurationOrigin] = [:]
        merged.visitLeaves([]) { path, layer in origins[path] = origin(of: path, in: layer) }
        return origins
    }

    /// The configuration with a value in the `code` layer, which is the strongest.
    ///
    /// - Throws: `invalidConfiguration` if the path is empty.
    package func setting(_ value: JSONValue, at path: [String]) throws(StorageError) -> LayeredConfiguration {
        guard !path.isEmpty else {
            throw StorageError(.invalidConfiguration, "code: expected a key path, found an empty one")
        }
        let isLast = layers.last?.name == .code
        let present = isLast ? layers.last?.value : nil
        let code = (present ?? .object([:])).setting(value, at: path)
        return LayeredConfiguration(
            layers: (isLast ? layers.dropLast() : layers) + [ConfigurationLayer(.code, source: "code", value: code)])
    }

    private func origin(of path: [String], in layer: Int) -> ConfigurationOrigin { layers[layer].origin(of: path) }
}

extension LayeredConfiguration {
    /// A value with the index of the strongest layer that has a say in it.
    private struct Merged: Sendable {
        enum Content: Sendable {
            case leaf(JSONValue)
            case object([String: Merged])
        }

        var layer: Int
        var content: Content

        var value: JSONValue {
            switch content {
            case .leaf(let value): value
            case .object(let members): .object(members.mapValues(\.value))
            }
        }

        func overlaid(with value: JSONValue, layer: Int) -> Merged {
            guard case .object(let added) = value else { return Merged(layer: layer, content: .leaf(value)) }
            var members: [String: Merged] = [:]
            if case .object(let present) = content { members = present }
            for (key, member) in added {
                let below = members[key] ?? Merged(layer: layer, content: .leaf(.null))
                members[key] = below.overlaid(with: member, layer: layer)
            }
            return Merged(layer: layer, content: .object(members))
        }

        func visitLeaves(_ path: [String], _ visit: ([String], Int) -> Void) {
            guard case .object(let members) = content, !members.isEmpty else { return visit(path, layer) }
            for (key, member) in members { member.visitLeaves(path + [key], visit) }
        }
    }
}

/// Typed access. A missing value is nil; a value of another kind is an error that names its origin.
extension LayeredConfiguration {
    package func string(at path: [String]) throws(StorageError) -> String? {
        guard let (value, origin) = value(at: path) else { return nil }
        guard case .string(let string) = value else { throw mismatch("a string", value, path, origin) }
        return string
    }

    /// A number, whole or not.
    package func double(at path: [String]) throws(StorageError) -> Double? {
        guard let (value, origin) = value(at: path) else { return nil }
        switch value {
        case .double(let number): return number
        case .integer(let whole): return Double(whole)
        default: throw mismatch("a number", value, path, origin)
        }
    }

    /// A number of seconds, at most those of a day. A greater one is out of range, which is reported once the settings
    /// are there.
    package func duration(at path: [String]) throws(StorageError) -> Duration? {
        try double(at: path).map { .seconds(min(max(0, $0), 86_400)) }
    }

    package func integer(at path: [String]) throws(StorageError) -> Int64? {
        guard let (value, origin) = value(at: path) else { return nil }
        guard case .integer(let whole) = value else { throw mismatch("a whole number", value, path, origin) }
        return whole
    }

    /// An array of strings.
    package func strings(at path: [String]) throws(StorageError) -> [String]? {
        guard let (value, origin) = value(at: path) else { return nil }
        guard case .array(let elements) = value else { throw mismatch("an array of strings", value, path, origin) }
        var strings: [String] = []
        for (index, element) in elements.enumerated() {
            guard case .string(let string) = element else {
                throw mismatch("a string", element, path + [String(index)], origin)
            }
            strings.append(string)
        }
        return strings
    }

    /// The keys of an object, sorted; none if it is missing.
    package func keys(at path: [String]) throws(StorageError) -> [String] {
        guard let (value, origin) = value(at: path) else { return [] }
        guard case .object(let members) = value else { throw mismatch("an object", value, path, origin) }
        return members.keys.sorted()
    }

    /// The paths that exist and match a pattern of keys and placeholders such as `<store>`, sorted.
    func paths(matching pattern: some Sequence<String>) -> [[String]] {
        pattern.reduce([[]]) { paths, segment in
            paths.flatMap { path in
                let keys = (try? keys(at: path)) ?? []
                return keys.filter { ConfigurationRule.isPlaceholder(segment) || $0 == segment }.map { path + [$0] }
            }
        }
    }

    private func mismatch(
        _ expected: String, _ value: JSONValue, _ path: [String], _ origin: ConfigurationOrigin
    ) -> StorageError {
        StorageError(
            .invalidConfiguration,
            "\(origin): \(ConfigurationPath(path)): expected \(expected), found \(value.kind)")
    }
}
