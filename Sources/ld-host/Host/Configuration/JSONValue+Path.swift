extension JSONValue {
    /// The value at a path; elements of arrays go by their index (`"0"`). The empty path is the value itself.
    package subscript(path: some Collection<String>) -> JSONValue? {
        guard let first = path.first else { return self }
        switch self {
        case .object(let members):
            return members[first]?[path.dropFirst()]
        case .array(let elements):
            guard let index = ConfigurationPath.index(first), index < elements.count else { return nil }
            return elements[index][path.dropFirst()]
        default:
            return nil
        }
    }

    /// The value with `value` at a path of object keys. What is in the way and no object is replaced by one.
    package func setting(_ value: JSONValue, at path: some Collection<String>) -> JSONValue {
        guard let first = path.first else { return value }
        var members: [String: JSONValue] = [:]
        if case .object(let present) = self { members = present }
        members[first] = (members[first] ?? .object([:])).setting(value, at: path.dropFirst())
        return .object(members)
    }
}
