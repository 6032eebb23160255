/// Finds the places of values in a JSON5 text; the values themselves are the decoder's business.
///
/// It accepts no more than the toolchain's JSON5 decoder, and on purpose a little less: no repeated keys, no `NaN` and
/// `Infinity`, no line continuation in strings (the decoder keeps the line break, JSON5 drops it), no escapes in
/// unquoted keys (the decoder leaves them as they are), at most `maximumDepth` nested values.
struct ConfigurationScanner {
    /// Nesting beyond this is refused, which also bounds the stack.
    static let maximumDepth = 64
    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    let bytes: [UInt8]
    var position = 0
    private var depth = 0

    /// The tree of the only value in `bytes` (valid UTF-8); nil if there are only comments and white space.
    static func scan(_ bytes: [UInt8]) throws(ConfigurationFault) -> ConfigurationNode? {
        var scanner = ConfigurationScanner(bytes: bytes)
        if bytes.starts(with: byteOrderMark) { scanner.position = byteOrderMark.count }
        try scanner.skipTrivia()
        guard scanner.current != nil else { return nil }
        let node = try scanner.value()
        try scanner.skipTrivia()
        guard scanner.current == nil else { throw scanner.fault(expected: "the end of the text") }
        return node
    }

    /// The end of the comment that begins at an offset of a text that has been scanned before.
    static func endOfComment(at offset: Int, in bytes: [UInt8]) -> Int {
        var scanner = ConfigurationScanner(bytes: bytes)
        scanner.position = offset
        try? scanner.skipComment()
        return scanner.position
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    func isAt(_ character: Unicode.Scalar) -> Bool { current == UInt8(ascii: character) }

    private mutating func value() throws(ConfigurationFault) -> ConfigurationNode {
        let start = position
        switch current {
        case UInt8(ascii: "{"):
            return try nested(.object)
        case UInt8(ascii: "["):
            return try nested(.array)
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            try skipString()
        case let byte? where Self.startsNumber(byte):
            try skipNumber()
        default:
            try skipWord()
        }
        return ConfigurationNode(kind: .scalar, range: start..<position)
    }

    private mutating func nested(_ kind: ConfigurationNode.Kind) throws(ConfigurationFault) -> ConfigurationNode {
        let start = position
        let close: Unicode.Scalar = kind == .object ? "}" : "]"
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else {
            throw ConfigurationFault(
                offset: start, message: "expected at most \(Self.maximumDepth) nested values, found more")
        }
        position += 1
        var members: [ConfigurationNode.Member] = []
        var offsets: [String: Int] = [:]
        try skipTrivia()
        while !isAt(close) {
            var member = try kind == .object ? keyedMember(close) : element(members.count, close)
            if kind == .object, let first = offsets.updateValue(member.keyRange.lowerBound, forKey: member.key) {
                throw ConfigurationFault(
                    offset: member.keyRange.lowerBound, message: "the key '\(member.key)' is given twice",
                    hint: "remove one of the two", firstOffset: first)
            }
            try skipTrivia()
            if isAt(",") {
                member.comma = position
                position += 1
                try skipTrivia()
            } else if !isAt(close) {
                throw fault(expected: "',' or '\(close)'")
            }
            members.append(member)
        }
        position += 1
        return ConfigurationNode(kind: kind, range: start..<position, members: members)
    }

    private mutating func element(
        _ index: Int, _ close: Unicode.Scalar
    ) throws(ConfigurationFault) -> ConfigurationNode.Member {
        guard current != nil else { throw fault(expected: "a value or '\(close)'") }
        let value = try value()
        return ConfigurationNode.Member(key: String(index), keyRange: value.range, value: value)
    }

    private mutating func keyedMember(_ close: Unicode.Scalar) throws(ConfigurationFault) -> ConfigurationNode.Member {
        let start = position
        let key: String
        if isAt("\"") || isAt("'") {
            try skipString()
            key = try decodedKey(start..<position)
        } else {
            try skipIdentifier(expected: "a key or '\(close)'")
            key = String(decoding: bytes[start..<position], as: UTF8.self)
        }
        let range = start..<position
        try skipTrivia()
        guard isAt(":") else { throw fault(expected: "':' after the key") }
        position += 1
        try skipTrivia()
        return ConfigurationNode.Member(key: key, keyRange: range, value: try value())
    }

    /// The text of a quoted key, by the decoder itself, so that the two never disagree about escapes.
    private func decodedKey(_ range: Range<Int>) throws(ConfigurationFault) -> String {
        let token = bytes[range]
        if !token.contains(UInt8(ascii: "\\")) { return String(decoding: token.dropFirst().dropLast(), as: UTF8.self) }
        guard case .string(let key) = JSONValue(decodingJSON5: token) else {
            throw ConfigurationFault(offset: range.lowerBound, message: "expected a key that is valid Unicode")
        }
        return key
    }
}
