internal import JSON
internal import LocalDataAPI

/// An object of a manifest, whose members are all known by name.
struct ManifestObject: Sendable {
    let place: ManifestPlace
    private let object: JSONObject

    /// - Throws: If the value is no object, or has members that nobody knows, with the names that were probably meant.
    init(_ value: JSON, at place: ManifestPlace, members known: [String]) throws(ManifestFaults) {
        guard case .object(let object) = value.content else { throw place.expected("an object", value) }
        self.place = place
        self.object = object
        var faults = ManifestFaults()
        for member in object.members where !known.contains(member.name) {
            _ = faults.collect { () throws(ManifestFaults) in throw place.unknown(member.name, among: known) }
        }
        try faults.check()
    }

    /// Whether a member is there.
    func has(_ name: String) -> Bool { object[name] != nil }

    /// A member, if it is there.
    func value(_ name: String) -> JSON? { object[name] }

    /// A member that has to be there.
    func required(_ name: String, _ expected: String) throws(ManifestFaults) -> JSON {
        guard let value = object[name] else {
            throw place.error("'\(name)' is missing; expected \(expected)")
        }
        return value
    }

    /// A text that is not empty.
    func text(_ name: String, _ expected: String) throws(ManifestFaults) -> String {
        let value = try required(name, expected)
        guard case .string(let text) = value.content, !text.isEmpty else {
            throw place.member(name).expected(expected, value)
        }
        return text
    }

    /// A truth value; `false` if it is not there.
    func flag(_ name: String) throws(ManifestFaults) -> Bool {
        guard let value = object[name] else { return false }
        guard case .bool(let flag) = value.content else {
            throw place.member(name).expected("true or false", value)
        }
        return flag
    }

    /// A list; empty if it is not there.
    func list(_ name: String, _ expected: String) throws(ManifestFaults) -> [JSON] {
        guard let value = object[name] else { return [] }
        guard case .array(let elements) = value.content else {
            throw place.member(name).expected(expected, value)
        }
        return elements
    }

    /// One of a few words; `nil` if it is not there.
    func choice(_ name: String, _ words: [String]) throws(ManifestFaults) -> String? {
        guard let value = object[name] else { return nil }
        guard case .string(let text) = value.content, words.contains(text) else {
            throw place.member(name).expected("one of \(words.joined(separator: ", "))", value)
        }
        return text
    }

    /// A place in a value that is not the whole value.
    func pointer(_ name: String) throws(ManifestFaults) -> JSONPointer {
        let expected = "a JSON pointer such as /profile/name"
        let value = try required(name, expected)
        guard case .string(let text) = value.content, let pointer = JSONPointer(text), !pointer.tokens.isEmpty else {
            throw place.member(name).expected(expected, value, hint: "write ~0 for ~ and ~1 for / inside a name")
        }
        return pointer
    }
}
