import LocalDataAPI

/// One value of a scanned text: where it stands, and for objects and arrays what is in it.
struct ConfigurationNode: Sendable {
    enum Kind: Sendable { case scalar, array, object }

    /// A member of an object, or an element of an array; an element's key is its index and has the value's range.
    struct Member: Sendable {
        var key: String
        var keyRange: Range<Int>
        var value: ConfigurationNode
        /// The offset of the comma behind the value, if there is one.
        var comma: Int?
    }

    var kind: Kind
    /// The bytes of the value, with its brackets or quotes.
    var range: Range<Int>
    var members: [Member] = []

    func member(_ key: String) -> Member? {
        switch kind {
        case .object: members.first { $0.key == key }
        case .array: ConfigurationPath.index(key).flatMap { $0 < members.count ? members[$0] : nil }
        case .scalar: nil
        }
    }

    /// The member at a path that is not empty.
    func member(at path: some Collection<String>) -> Member? {
        guard let first = path.first, let member = member(first) else { return nil }
        let rest = path.dropFirst()
        return rest.isEmpty ? member : member.value.member(at: rest)
    }
}

extension ConfigurationNode {
    /// The value as the toolchain's JSON5 decoder reads it, with the place of what it refuses: what the scanner lets
    /// pass and the decoder refuses is always a single number or string.
    ///
    /// The decoder is asked only about scalars that can be taken in more than one way. To load it takes longer than to
    /// read a usual configuration.
    func decoded(from bytes: [UInt8], source: String, lines: ConfigurationLines) throws(StorageError) -> JSONValue {
        do { return try decoded(from: bytes) } catch { throw error.located(in: source, lines: lines) }
    }

    private func decoded(from bytes: [UInt8]) throws(ConfigurationFault) -> JSONValue {
        switch kind {
        case .scalar: return try decodedScalar(bytes[range])
        case .array:
            var elements: [JSONValue] = []
            for member in members { elements.append(try member.value.decoded(from: bytes)) }
            return .array(elements)
        case .object:
            var values: [String: JSONValue] = [:]
            for member in members { values[member.key] = try member.value.decoded(from: bytes) }
            return .object(values)
        }
    }

    private func decodedScalar(_ bytes: ArraySlice<UInt8>) throws(ConfigurationFault) -> JSONValue {
        if let value = Self.plain(bytes) ?? JSONValue(decodingJSON5: bytes) { return value }
        throw ConfigurationFault(
            offset: range.lowerBound, message: "expected a value that the JSON5 decoder can represent")
    }

    /// A word, a text without escapes, or a whole number of few decimal digits; `nil` for what the decoder is to read.
    private static func plain(_ bytes: ArraySlice<UInt8>) -> JSONValue? {
        switch bytes.first {
        case UInt8(ascii: "t"): return .bool(true)
        case UInt8(ascii: "f"): return .bool(false)
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            guard !bytes.contains(UInt8(ascii: "\\")) else { return nil }
            return .string(String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self))
        default:
            let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
            guard bytes.count < 18, bytes.allSatisfy(digits.contains) else { return nil }
            return .integer(bytes.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) })
        }
    }
}
