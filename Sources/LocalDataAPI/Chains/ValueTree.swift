#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What a document says, to compare what a type reads with what was there, and to name what a decoder did not expect.
indirect enum ValueTree: Hashable {
    case null
    case bool(Bool)
    case whole(Int64)
    case number(Double)
    case text(String)
    case bytes(Data)
    case date(Date)
    case list([ValueTree])
    case members([String: ValueTree])

    /// The tree of a document.
    ///
    /// - Throws: What the format's decoder throws; for formats without a structure, `nil` is returned.
    static func read(_ data: Data, as format: SerializerFormat) throws -> ValueTree? {
        switch format {
        case .json: try JSONCoding.decode(ValueTree.self, from: data)
        case .plist: try PropertyListCoding.decode(ValueTree.self, from: data)
        case .text, .data, .custom: nil
        }
    }
}

extension ValueTree: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .whole(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([ValueTree].self) {
            self = .list(value)
        } else if let value = try? container.decode([String: ValueTree].self) {
            self = .members(value)
        } else if let value = try? container.decode(Data.self) {
            self = .bytes(value)
        } else {
            self = .date(try container.decode(Date.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .whole(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .bytes(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .members(let value): try container.encode(value)
        }
    }
}

extension ValueTree {
    /// The same in one spelling, so that two trees that say the same are equal.
    ///
    /// A member that is null is absent, as encoders leave it out. A number is as precise as a `Float`: types read
    /// numbers with less precision than they may be written with. Identifiers are in upper case, times are dates, and
    /// nothing is percent-encoded.
    var canonical: ValueTree {
        switch self {
        case .null, .bool, .bytes, .date: self
        case .whole(let value): .number(Double(Float(value)))
        case .number(let value): .number(Double(Float(value)))
        case .text(let value): Self.canonical(value)
        case .list(let values): .list(values.map(\.canonical))
        case .members(let values): .members(values.filter { $0.value != .null }.mapValues(\.canonical))
        }
    }

    private static func canonical(_ text: String) -> ValueTree {
        let bytes = Array(text.utf8)
        if bytes.count == 36, let id = UUID(uuidString: text) { return .text(id.uuidString) }
        if (20...40).contains(bytes.count), bytes[4] == UInt8(ascii: "-"), bytes[10] == UInt8(ascii: "T"),
            let date = date(text)
        {
            return .date(date)
        }
        return .text(bytes.contains(UInt8(ascii: "%")) ? withoutEscapes(bytes) : text)
    }

    /// The time that a text in the form of ISO 8601 says, with or without a fraction of a second.
    private static func date(_ text: String) -> Date? {
        (try? Date.ISO8601FormatStyle().parse(text))
            ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
    }

    /// A text with each `%C3` as the byte that it stands for.
    private static func withoutEscapes(_ bytes: [UInt8]) -> String {
        var decoded: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, digits.first != UInt8(ascii: "+"),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                decoded.append(value)
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
