internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import LocalDataAPI

/// The members of one object in a vector file, read by type.
struct VectorFields: Sendable {
    private let members: [String: JSONValue]
    /// The object's position, for messages: `'FILE': testGroups[0].tests[2] (tcId 3)`.
    let place: String

    /// - Throws: `deserializationFailed` if the value is not an object.
    init(_ value: JSONValue, place: String) throws(StorageError) {
        guard case .object(let members) = value else {
            throw Self.fault(place, "is \(value.kind); expected an object")
        }
        self.members = members
        self.place = place
    }

    /// The same members with a more precise position.
    init(_ fields: VectorFields, place: String) {
        members = fields.members
        self.place = place
    }

    static func fault(_ place: String, _ what: String) -> StorageError {
        StorageError(
            .deserializationFailed, "vector file \(place) \(what)",
            hint: "give a file in the JSON form of the Wycheproof project")
    }

    func text(_ name: String) throws(StorageError) -> String {
        guard case .string(let text)? = members[name] else { throw fault(name, "a string") }
        return text
    }

    /// A string that may be missing.
    func optionalText(_ name: String) throws(StorageError) -> String? {
        try members[name] == nil ? nil : text(name)
    }

    /// A whole number that is not negative.
    func count(_ name: String) throws(StorageError) -> Int {
        guard case .integer(let number)? = members[name], let count = Int(exactly: number), count >= 0 else {
            throw fault(name, "a whole number from 0 to \(Int.max)")
        }
        return count
    }

    /// A whole number that may be missing.
    func optionalCount(_ name: String) throws(StorageError) -> Int? {
        try members[name] == nil ? nil : count(name)
    }

    /// The object under the first of the names that there is; schemas have had different ones.
    func object(named names: [String]) throws(StorageError) -> VectorFields {
        let name = names.first { members[$0] != nil } ?? names[0]
        guard case .object? = members[name], let value = members[name] else { throw fault(name, "an object") }
        return try VectorFields(value, place: "\(place).\(name)")
    }

    func list(_ name: String) throws(StorageError) -> [JSONValue] {
        guard case .array(let list)? = members[name] else { throw fault(name, "an array") }
        return list
    }

    /// Bytes, written as hexadecimal digits.
    func bytes(_ name: String) throws(StorageError) -> Data {
        let digits = try text(name).utf8
        guard digits.count % 2 == 0 else { throw fault(name, "pairs of hexadecimal digits") }
        var bytes = Data(capacity: digits.count / 2)
        var high: UInt8?
        for digit in digits {
            guard let value = Self.value(of: digit) else { throw fault(name, "pairs of hexadecimal digits") }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }

    private func fault(_ name: String, _ expected: String) -> StorageError {
        Self.fault(
            place, members[name].map { "has '\(name)' as \($0.kind); expected \(expected)" } ?? "lacks '\(name)'")
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
