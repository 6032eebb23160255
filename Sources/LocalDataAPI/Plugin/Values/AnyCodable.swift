/// A value of any JSON-like type, for payloads whose types differ: null, boolean, number, text, list or dictionary.
public struct AnyCodable: Sendable, Hashable {
    /// The kinds of values that it can hold.
    public indirect enum Content: Sendable, Hashable {
        /// Nothing.
        case null
        /// A truth value.
        case bool(Bool)
        /// A whole number.
        case int(Int64)
        /// A number.
        case double(Double)
        /// Text.
        case string(String)
        /// A list.
        case array([AnyCodable])
        /// A dictionary.
        case dictionary([String: AnyCodable])
    }

    /// The content.
    public let content: Content

    /// Wraps a value.
    public init(_ content: Content) { self.content = content }

    /// Wraps a truth value.
    public init(_ value: Bool) { self.init(.bool(value)) }
    /// Wraps a whole number.
    public init(_ value: Int) { self.init(.int(Int64(value))) }
    /// Wraps a number.
    public init(_ value: Double) { self.init(.double(value)) }
    /// Wraps a text.
    public init(_ value: String) { self.init(.string(value)) }
    /// Wraps a list.
    public init(_ values: [AnyCodable]) { self.init(.array(values)) }
    /// Wraps a dictionary.
    public init(_ values: [String: AnyCodable]) { self.init(.dictionary(values)) }

    /// The value as plain Swift: `Bool`, `Int` (`Int64` where an `Int` is smaller than the number), `Double`, `String`,
    /// `[(any Sendable)?]`, `[String: (any Sendable)?]`, or `nil`.
    public var value: (any Sendable)? {
        switch content {
        case .null: nil
        case .bool(let value): value
        case .int(let value): if let whole = Int(exactly: value) { whole } else { value }
        case .double(let value): value
        case .string(let value): value
        case .array(let values): values.map { $0.value }
        case .dictionary(let values): values.mapValues { $0.value }
        }
    }
}

extension AnyCodable: Codable {
    /// Reads a value of any of these types; a whole number stays whole.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            content = .null
        } else if let value = try? container.decode(Bool.self) {
            content = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            content = .int(value)
        } else if let value = try? container.decode(Double.self) {
            content = .double(value)
        } else if let value = try? container.decode(String.self) {
            content = .string(value)
        } else if let value = try? container.decode([AnyCodable].self) {
            content = .array(value)
        } else {
            content = .dictionary(try container.decode([String: AnyCodable].self))
        }
    }

    /// Writes the value as it is.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch content {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .dictionary(let value): try container.encode(value)
        }
    }
}

extension AnyCodable: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Null.
    public init(nilLiteral: ()) { self.init(.null) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self.init(.bool(value)) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self.init(.int(value)) }
    /// A number.
    public init(floatLiteral value: Double) { self.init(.double(value)) }
    /// Text.
    public init(stringLiteral value: String) { self.init(.string(value)) }
    /// A list.
    public init(arrayLiteral elements: AnyCodable...) { self.init(.array(elements)) }
    /// A dictionary; of duplicate keys the last one counts.
    public init(dictionaryLiteral elements: (String, AnyCodable)...) {
        self.init(.dictionary(Dictionary(elements, uniquingKeysWith: { $1 })))
    }
}
