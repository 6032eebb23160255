package import FoundationEssentials
internal import JSON
package import LocalDataAPI

/// The type that a catalog declares by name for a key's values.
struct DeclaredType {
    /// The type's name in the catalog: `Int`, `Optional<Date>`, `Settings`.
    let name: String
    /// The type itself, if it is from the standard library, or an array, a dictionary or an optional of such a type.
    private let type: (any (Codable & Sendable).Type)?

    init(_ name: String) {
        self.name = name
        type = Self.type(named: name)
    }

    /// Whether the type is known, so that its values can be recognized.
    var isKnown: Bool { type != nil }

    /// The accepted input, in words.
    var accepted: String {
        switch type {
        case is String.Type, is String?.Type: "text"
        case is Bool.Type, is Bool?.Type: "true or false"
        case is any BinaryInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        case is Date.Type, is Date?.Type: "a time such as 2030-12-31T23:59:59Z"
        case is Data.Type, is Data?.Type: "bytes in base64"
        case is URL.Type, is URL?.Type: "a URL"
        case is UUID.Type, is UUID?.Type: "a UUID"
        case nil: "JSON, in which a text has quotes"
        default: "JSON of that type"
        }
    }

    /// The bytes of a value given as text; `nil` if it is not of this type.
    func bytes(ofText text: Data, as format: SerializerFormat) -> Data? {
        guard let type else { return format == .json ? json(text) : nil }
        func encode<Value: Codable & Sendable>(_ type: Value.Type) -> Data? {
            guard let value = Self.value(type, ofText: text) else { return nil }
            return try? (format == .plist ? Serializer<Value>.plist : .json).encode(value)
        }
        return encode(type)
    }

    /// The bytes of a value given as JSON; `nil` if it is not of this type.
    func bytes(ofJSON text: Data, as format: SerializerFormat) -> Data? {
        guard let type else { return format == .json ? json(text) : nil }
        func encode<Value: Codable & Sendable>(_ type: Value.Type) -> Data? {
            guard let value = Self.value(type, ofJSON: text) else { return nil }
            return format == .plist ? try? Serializer<Value>.plist.encode(value) : text
        }
        return encode(type)
    }

    /// Whether serialized bytes are a value of this type, as far as the type is known.
    func reads(_ data: Data, as format: SerializerFormat) -> Bool {
        switch format {
        case .data, .custom: return true
        case .text: return String(validating: data, as: UTF8.self) != nil
        case .json: return bytes(ofJSON: data, as: .json) != nil
        case .plist:
            func decodes<Value: Codable & Sendable>(_ type: Value.Type) -> Bool {
                (try? Serializer<Value>.plist.decode(data)) != nil
            }
            let type: any (Codable & Sendable).Type = type ?? Anything.self
            return decodes(type)
        }
    }

    private func json(_ text: Data) -> Data? { Self.isJSON(text) ? text : nil }

    /// Whether bytes are valid JSON.
    static func isJSON(_ data: Data) -> Bool {
        JSONText.plain(data) != nil || value(AnyCodable.self, ofJSON: data) != nil
    }

    /// The text in a JSON string; `nil` for anything else.
    static func text(ofJSON data: Data) -> String? { JSONText.plain(data) ?? value(String.self, ofJSON: data) }
}

extension JSON {
    /// How deep JSON may be nested, as for the toolchain's decoder.
    static let deepestDecoded = 512
}

extension DeclaredType {
    private struct Anything: Codable {
        init(from decoder: any Decoder) {}
        func encode(to encoder: any Encoder) {}
    }

    private static func value<Value: Codable & Sendable>(_ type: Value.Type, ofText text: Data) -> Value? {
        // In JSON a date is a number, which nobody types.
        if Value.self == Date.self || Value.self == Date?.self {
            return (try? Date(String(decoding: text, as: UTF8.self), strategy: .iso8601)) as? Value
        }
        let string = JSONText.string(text).flatMap { value(type, ofJSON: $0) }
        if Value.self == String.self || Value.self == String?.self { return string }
        return value(type, ofJSON: text) ?? string
    }

    private static func value<Value: Codable & Sendable>(_ type: Value.Type, ofJSON text: Data) -> Value? {
        // The decoder takes a comma behind the last element, which is no JSON.
        var cursor = JSONCursor(Array(text))
        guard (try? cursor.skipSpace()) != nil, (try? cursor.skipValue(deepest: JSON.deepestDecoded)) != nil,
            (try? cursor.end()) != nil
        else { return nil }
        // As the only element of an array, because the toolchain's decoder reads past the end of a bare number.
        let array = Data("[".utf8) + text + Data("]".utf8)
        guard let values = try? JSONDecoder().decode([Value].self, from: array), values.count == 1 else { return nil }
        return values[0]
    }

    private static func type(named name: String) -> (any (Codable & Sendable).Type)? {
        if let type = simple[name] { return type }
        if name.hasSuffix("?") { return type(named: String(name.dropLast())).map { optional($0) } }
        guard let open = name.firstIndex(of: "<"), name.hasSuffix(">") else { return nil }
        let inner = name[name.index(after: open)...].dropLast()
        switch name[..<open] {
        case "Optional": return type(named: String(inner)).map { optional($0) }
        case "Array": return type(named: String(inner)).map { array($0) }
        case "Dictionary" where inner.hasPrefix("String, "):
            return type(named: String(inner.dropFirst("String, ".count))).map { dictionary($0) }
        default: return nil
        }
    }

    private static let simple: [String: any (Codable & Sendable).Type] = Dictionary(
        uniqueKeysWithValues: [
            String.self, Bool.self, Double.self, Float.self, Date.self, Data.self, URL.self, UUID.self, Int.self,
            Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self,
            AnyCodable.self,
        ].map { (type: any (Codable & Sendable).Type) in (String(describing: type), type) })

    private static func optional<Value: Codable & Sendable>(_: Value.Type) -> any (Codable & Sendable).Type {
        Value?.self
    }
    private static func array<Value: Codable & Sendable>(_: Value.Type) -> any (Codable & Sendable).Type {
        [Value].self
    }
    private static func dictionary<Value: Codable & Sendable>(_: Value.Type) -> any (Codable & Sendable).Type {
        [String: Value].self
    }
}

extension ValueAttributes {
    /// Whether the value is recorded as text, as a person or another program stored it.
    var isText: Bool {
        guard let contentType else { return false }
        return contentType.split(separator: ";").first == SerializerFormat.text.contentType[...]
    }

    /// Whether neither the format nor the media type is recorded.
    fileprivate var isUnknown: Bool { (contentType ?? "").isEmpty && (serializer ?? "").isEmpty }

    /// The recorded format; `nil` if absent, or an unknown one.
    package var format: SerializerFormat? {
        serializer.flatMap { SerializerFormat(rawValue: $0) } ?? (isText ? .text : nil)
    }
}

/// Text as JSON strings.
package enum JSONText {
    /// The JSON string for bytes that a key with the serializer `json` cannot read as they are, if they are text: they
    /// are recorded as such, or nothing is recorded with them and they look like it. Attributes get lost where a file
    /// is copied without them.
    package static func string(_ bytes: Data, recordedWith attributes: ValueAttributes?) -> Data? {
        guard let attributes, attributes.isText || attributes.isUnknown && isPlain(bytes) else { return nil }
        return string(bytes)
    }

    /// Whether bytes can only be text: they are no JSON, not the beginning of any, and have no control characters. What
    /// begins like a string, a list or an object is rather a damaged one.
    private static func isPlain(_ bytes: Data) -> Bool {
        guard let first = bytes.first, !"\"[{".utf8.contains(first), !DeclaredType.isJSON(bytes) else { return false }
        return bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    }

    /// The JSON string for a text; `nil` if it is not UTF-8.
    static func string(_ text: Data) -> Data? {
        String(validating: text, as: UTF8.self).flatMap { try? Serializer<String>.json.encode($0) }
    }

    /// The text of a JSON string without escapes, whose bytes are its text; `nil` for anything else. Most strings have
    /// no escapes, so they need no decoder.
    package static func plain(_ json: Data) -> String? {
        let quote = UInt8(ascii: "\"")
        return json.withUnsafeBytes { bytes in
            guard bytes.count >= 2, bytes.first == quote, bytes.last == quote else { return nil }
            let text = bytes[1..<(bytes.count - 1)]
            guard text.allSatisfy({ $0 >= 0x20 && $0 != quote && $0 != UInt8(ascii: "\\") }) else { return nil }
            return String(validating: text, as: UTF8.self)
        }
    }
}
