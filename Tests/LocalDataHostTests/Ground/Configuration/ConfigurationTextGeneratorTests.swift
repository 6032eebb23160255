import LocalDataHost
import TestSupport
import Testing

extension JSONValue {
    /// A copy of the value with another one at a path, as the reference for edits of the text: indices and keys.
    func replacing(_ value: JSONValue, at path: [String]) -> JSONValue {
        guard let first = path.first else { return value }
        switch self {
        case .array(var elements):
            guard let index = Int(first) else { return self }
            elements[index] = elements[index].replacing(value, at: Array(path.dropFirst()))
            return .array(elements)
        case .object(var members):
            members[first] = (members[first] ?? .object([:])).replacing(value, at: Array(path.dropFirst()))
            return .object(members)
        default:
            return self
        }
    }

    /// A copy of the value without the one at a path, as the reference for removals from the text.
    func removing(at path: [String]) -> JSONValue {
        guard let first = path.first else { return self }
        let rest = Array(path.dropFirst())
        switch self {
        case .array(var elements):
            guard let index = Int(first), elements.indices.contains(index) else { return self }
            if rest.isEmpty { elements.remove(at: index) } else { elements[index] = elements[index].removing(at: rest) }
            return .array(elements)
        case .object(var members):
            guard let member = members[first] else { return self }
            members[first] = rest.isEmpty ? nil : member.removing(at: rest)
            return .object(members)
        default:
            return self
        }
    }
}

extension SeededGenerator {
    /// A random one of some texts.
    mutating func piece(of pieces: [String]) -> String { pieces.randomElement(using: &self) ?? "" }
}
