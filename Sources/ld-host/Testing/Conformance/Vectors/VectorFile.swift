package import FoundationEssentials
internal import HostGround
internal import HostPlugins
package import LocalDataAPI

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

/// The outcome of one vector.
enum VectorOutcome: Sendable, Equatable {
    case passed
    case failed(String)
    /// It was not computed, for a reason shared with other vectors.
    case skipped(String)

    /// Judges a computation with one result: `valid` must give it, `invalid` must be refused or give something else,
    /// `acceptable` may be refused.
    static func judging(
        _ expectation: VectorFile.Expectation, against result: Data, named name: String,
        _ compute: () throws(StorageError) -> Data
    ) -> VectorOutcome {
        let found: Data
        do throws(StorageError) {
            found = try compute()
        } catch {
            return expectation == .valid ? .failed("refused: \(error.message)") : .passed
        }
        switch (expectation, found == result) {
        case (.invalid, true): return .failed("\(name) was computed, though the vector is invalid")
        case (.invalid, false), (_, true): return .passed
        case (_, false): return .failed("\(name) differs")
        }
    }
}

extension Data {
    /// The bytes of pairs of hexadecimal digits; spaces between them are ignored.
    init(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        self.init(stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }

    /// The bytes as hexadecimal digits.
    var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    /// This many bytes, ascending by one.
    init(ascendingFrom first: UInt8, _ count: Int) {
        self.init((0..<count).map { first &+ UInt8(truncatingIfNeeded: $0) })
    }
}
