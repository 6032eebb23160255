package import LocalDataAPI

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
