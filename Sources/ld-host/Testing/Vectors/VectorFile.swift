package import FoundationEssentials
package import LocalDataAPI
internal import LocalDataHost

/// A file of test vectors in the JSON format of the Wycheproof project, with its first or its v1 schemas.
package struct VectorFile: Sendable {
    /// The expected result of a vector.
    enum Expectation: String, Sendable {
        /// The computation gives the vector's result.
        case valid
        /// The computation must be refused.
        case invalid
        /// The computation may be refused; otherwise it gives the vector's result.
        case acceptable
    }

    struct Vector: Sendable {
        let id: Int
        let comment: String
        let expectation: Expectation
        let fields: VectorFields
    }

    struct Group: Sendable {
        /// The kind of its vectors, e.g. `AeadTest`.
        let type: String
        let fields: VectorFields
        let vectors: [Vector]
    }

    /// The file's name, for messages.
    package let name: String
    /// The subject of all its groups, e.g. `AES-GCM`.
    let algorithm: String
    let groups: [Group]

    /// Reads a file's content.
    ///
    /// - Throws: `deserializationFailed` with the file, the position in it, and what was expected.
    package init(_ content: Data, name: String) throws(StorageError) {
        self.name = name
        let root = try VectorFields(try Self.value(of: content, name), place: "'\(name)'")
        algorithm = try root.text("algorithm")
        var groups: [Group] = []
        for (index, value) in try root.list("testGroups").enumerated() {
            groups.append(try Self.group(value, place: "'\(name)': testGroups[\(index)]"))
        }
        self.groups = groups
    }

    private static func value(of content: Data, _ name: String) throws(StorageError) -> JSONValue {
        let spaces = Array(" \t\r\n".utf8)
        guard let first = content.first(where: { !spaces.contains($0) }) else {
            throw VectorFields.fault("'\(name)'", "is empty")
        }
        guard first == UInt8(ascii: "{") else { throw VectorFields.fault("'\(name)'", "is not a JSON object") }
        do {
            return try JSONDecoder().decode(JSONValue.self, from: content)
        } catch {
            throw VectorFields.fault("'\(name)'", "is not valid JSON: \(reason(error))")
        }
    }

    private static func reason(_ error: any Error) -> String {
        guard case DecodingError.dataCorrupted(let context) = error else { return "\(error)" }
        return context.underlyingError.map { "\($0)" } ?? context.debugDescription
    }

    private static func group(_ value: JSONValue, place: String) throws(StorageError) -> Group {
        let fields = try VectorFields(value, place: place)
        var vectors: [Vector] = []
        for (index, value) in try fields.list("tests").enumerated() {
            vectors.append(try vector(value, place: "\(place).tests[\(index)]"))
        }
        return Group(type: try fields.text("type"), fields: fields, vectors: vectors)
    }

    private static func vector(_ value: JSONValue, place: String) throws(StorageError) -> Vector {
        let fields = try VectorFields(value, place: place)
        let id = try fields.count("tcId")
        let result = try fields.text("result")
        guard let expectation = Expectation(rawValue: result) else {
            throw VectorFields.fault(
                "\(place) (tcId \(id))", "has the result '\(result)'; expected valid, invalid or acceptable")
        }
        return Vector(
            id: id, comment: try fields.optionalText("comment") ?? "", expectation: expectation,
            fields: VectorFields(fields, place: "\(place) (tcId \(id))"))
    }
}
