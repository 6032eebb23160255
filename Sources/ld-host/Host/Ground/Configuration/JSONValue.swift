internal import FoundationEssentials
package import JSON
package import LocalDataAPI

/// One value of a configuration, as JSON knows it.
///
/// Whole numbers that fit 64 bits are `.integer`, however they were written (`5`, `5.0`, `0x5`); all others are
/// `.double`. The two compare by number, as JSON has only one kind.
package indirect enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}

extension JSONValue: Equatable {
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.integer(let whole), .double(let number)), (.double(let number), .integer(let whole)):
            Int64(exactly: number) == whole
        case (.string(let left), .string(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

extension JSONValue: Codable {
    /// Tries the kinds from the most to the least frequent in a configuration; a failed try costs an error object.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let members = try? container.decode([String: JSONValue].self) {
            self = .object(members)
        } else if let elements = try? container.decode([JSONValue].self) {
            self = .array(elements)
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let whole = try? container.decode(Int64.self) {
            self = .integer(whole)
        } else {
            self = .double(try container.decode(Double.self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let bool): try container.encode(bool)
        case .integer(let whole): try container.encode(whole)
        case .double(let number): try container.encode(number)
        case .string(let string): try container.encode(string)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}

extension JSONValue {
    /// The kind of the value, for a message: `a string`, `an object`.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool(let bool): bool ? "true" : "false"
        case .integer: "an integer"
        case .double: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONValue {
    /// The same value as the API's type for it.
    package init(_ content: AnyCodable.Content) {
        switch content {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .int(let value): self = .integer(value)
        case .double(let value): self = .double(value)
        case .string(let value): self = .string(value)
        case .array(let values): self = .array(values.map { JSONValue($0.content) })
        case .dictionary(let values): self = .object(values.mapValues { JSONValue($0.content) })
        }
    }

    /// The same value in the API's type.
    package var anyCodable: AnyCodable {
        switch self {
        case .null: AnyCodable(.null)
        case .bool(let value): AnyCodable(.bool(value))
        case .integer(let value): AnyCodable(.int(value))
        case .double(let value): AnyCodable(.double(value))
        case .string(let value): AnyCodable(.string(value))
        case .array(let values): AnyCodable(.array(values.map(\.anyCodable)))
        case .object(let values): AnyCodable(.dictionary(values.mapValues(\.anyCodable)))
        }
    }
}

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

extension JSONValue {
    /// Strict JSON (RFC 8259) with sorted keys, so that equal values have equal texts.
    ///
    /// - Throws: `invalidConfiguration` for infinity and not-a-number, which JSON cannot say.
    package func serialized(pretty: Bool = false) throws(StorageError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
        do {
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        } catch {
            throw StorageError(
                .invalidConfiguration, "the value cannot be written as JSON",
                hint: "numbers must be finite")
        }
    }

    /// Reads one JSON5 value under the rules of a configuration file (see `ConfigurationDocument`), of any kind.
    ///
    /// `source` stands for the file's name in errors. A text without a value, such as only a comment, is an error.
    package init(json5 text: String, source: String) throws(StorageError) {
        let bytes = Array(text.utf8)
        do throws(JSONFault) {
            if let json = try JSON.read(bytes, deepest: ConfigurationDocument.maximumDepth, isJSON5: true) {
                self = try JSONValue(json)
                return
            }
        } catch {
            throw error.located(in: source, lines: ConfigurationLines(bytes))
        }
        throw StorageError(.invalidConfiguration, "\(source): expected a value, found the end of the text")
    }

    /// The value that a text says.
    ///
    /// - Throws: At a number that is none of 64 bits.
    package init(_ json: JSON) throws(JSONFault) {
        switch json.content {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .string(let text): self = .string(text)
        case .number(let text):
            guard let number = Self.number(text) else { throw JSONFault(.range, at: json.range.lowerBound) }
            self = number
        case .array(let elements):
            self = .array(try elements.map { (element) throws(JSONFault) in try JSONValue(element) })
        case .object(let object):
            var values: [String: JSONValue] = [:]
            for member in object.members { values[member.name] = try JSONValue(member.value) }
            self = .object(values)
        }
    }

    /// A number of JSON5; `nil` if it does not fit.
    private static func number(_ text: String) -> JSONValue? {
        if let whole = Int64(text) { return .integer(whole) }
        let sign = text.hasPrefix("-") ? "-" : ""
        let digits = text.drop { $0 == "+" || $0 == "-" }
        if digits.lowercased().hasPrefix("0x") {
            if let whole = Int64(sign + digits.dropFirst(2), radix: 16) { return .integer(whole) }
            let large = UInt64(digits.dropFirst(2), radix: 16)
            return sign.isEmpty ? large.flatMap { Double(exactly: $0) }.map { .double($0) } : nil
        }
        guard let number = Double(sign + digits), number.isFinite else { return nil }
        guard let whole = Int64(exactly: number) else { return .double(number) }
        // From 2^53 on, a whole one may be another.
        if number.magnitude < 0x1p53 { return .integer(whole) }
        return DecimalNumber(sign + digits)?.whole.map { .integer($0) } ?? .double(number)
    }
}

extension JSON {
    var isObject: Bool { if case .object = content { true } else { false } }
    var isArray: Bool { if case .array = content { true } else { false } }

    /// The members of an object, or the elements of an array; an element's name is its index, where its value is.
    var items: [JSONObject.Member] {
        switch content {
        case .object(let object): object.members
        case .array(let elements):
            elements.enumerated().map { JSONObject.Member(name: "\($0)", $1.range, value: $1) }
        default: []
        }
    }

    func member(_ key: String) -> JSONObject.Member? {
        guard isArray else { return items.first { $0.name == key } }
        return ConfigurationPath.index(key).flatMap { $0 < items.count ? items[$0] : nil }
    }

    /// The member at a path that is not empty.
    func member(at path: some Collection<String>) -> JSONObject.Member? {
        guard let first = path.first, let member = member(first) else { return nil }
        let rest = path.dropFirst()
        return rest.isEmpty ? member : member.value.member(at: rest)
    }
}
