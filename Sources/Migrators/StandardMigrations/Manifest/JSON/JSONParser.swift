internal import FoundationEssentials

/// Reads JSON strictly (RFC 8259): no comments, no second value of one name, no bytes that are not UTF-8, and no escape
/// that stands for no character, as any of these would have to be guessed or lost.
struct JSONParser {
    /// Nesting beyond this is refused, which also bounds the stack.
    static let deepest = 256

    private let bytes: [UInt8]
    private(set) var position = 0
    private var depth = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The only value in a text.
    static func parse(_ data: Data) throws(JSONFault) -> JSON { try parse([UInt8](data)) }

    /// The only value in a text.
    static func parse(_ bytes: [UInt8]) throws(JSONFault) -> JSON {
        var parser = JSONParser(bytes)
        parser.skipSpace()
        let value = try parser.value()
        parser.skipSpace()
        guard parser.position == bytes.count else { throw parser.fault("expected the end of the text") }
        return value
    }

    /// Whether a text is a number, as JSON writes it.
    static func isNumber(_ text: String) -> Bool {
        var parser = JSONParser(Array(text.utf8))
        return (try? parser.number()) != nil && parser.position == parser.bytes.count
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func fault(_ message: String) -> JSONFault { JSONFault(offset: position, message: message) }

    mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func value() throws(JSONFault) -> JSON {
        switch current {
        case UInt8(ascii: "{"): return try nested { (parser) throws(JSONFault) in try parser.object() }
        case UInt8(ascii: "["): return try nested { (parser) throws(JSONFault) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case let byte? where byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte):
            return .number(try number())
        default:
            for (word, value) in [("true", JSON.bool(true)), ("false", .bool(false)), ("null", .null)]
            where bytes[position...].starts(with: word.utf8) {
                position += word.utf8.count
                return value
            }
            throw fault("expected a value")
        }
    }

    private mutating func nested(_ body: (inout JSONParser) throws(JSONFault) -> JSON) throws(JSONFault) -> JSON {
        guard depth < Self.deepest else { throw fault("expected at most \(Self.deepest) nested values") }
        depth += 1
        defer { depth -= 1 }
        position += 1
        skipSpace()
        return try body(&self)
    }

    private mutating func object() throws(JSONFault) -> JSON {
        var members: [JSONObject.Member] = []
        var names: Set<[UInt8]> = []
        while !take("}") {
            guard members.isEmpty || take(",") else { throw fault("expected ',' or '}'") }
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw fault("expected the name of a member in quotes") }
            let start = position
            let name = try string()
            guard names.insert(Array(name.utf8)).inserted else {
                throw JSONFault(offset: start, message: "a member is given twice")
            }
            skipSpace()
            guard take(":") else { throw fault("expected ':'") }
            skipSpace()
            members.append(JSONObject.Member(name: name, value: try value()))
            skipSpace()
        }
        return .object(JSONObject(members: members))
    }

    private mutating func array() throws(JSONFault) -> JSON {
        var elements: [JSON] = []
        while !take("]") {
            guard elements.isEmpty || take(",") else { throw fault("expected ',' or ']'") }
            skipSpace()
            elements.append(try value())
            skipSpace()
        }
        return .array(elements)
    }

    private mutating func number() throws(JSONFault) -> String {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(JSONFault) {
        let start = position
        while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw fault("expected a digit") }
    }
}

extension JSONParser {
    mutating func string() throws(JSONFault) -> String {
        let start = position
        position += 1
        var text: [UInt8] = []
        while let byte = current, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw fault("expected no control character in a string") }
            position += 1
            if byte == UInt8(ascii: "\\") { try escape(into: &text) } else { text.append(byte) }
        }
        guard take("\"") else { throw fault("expected the end of a string") }
        guard let string = String(validating: text, as: UTF8.self) else {
            throw JSONFault(offset: start, message: "expected a string in UTF-8")
        }
        return string
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONFault) {
        let start = position - 1
        guard let byte = current else { throw fault("expected the end of a string") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var units = [try unit()]
            if UTF16.isLeadSurrogate(units[0]), take("\\"), take("u") { units.append(try unit()) }
            guard let scalar = String(validating: units, as: UTF16.self) else {
                throw JSONFault(offset: start, message: "expected an escape that stands for a character")
            }
            text += scalar.utf8
        default: throw JSONFault(offset: start, message: "expected an escape that JSON knows")
        }
    }

    private mutating func unit() throws(JSONFault) -> UInt16 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw fault("expected four hexadecimal digits") }
        position += 4
        return unit
    }
}
