internal import LocalDataAPI
internal import LocalDataHost

/// Reads an object of JSON (RFC 8259) that holds secrets: a decoder would leave copies of them in memory.
struct SecretJSONScanner {
    /// How deep values that are passed over may be nested.
    private static let deepest = 64

    private let json: SecretSlice
    private var position: Int

    init(_ json: SecretSlice) {
        self.json = json
        position = json.startIndex
    }

    /// Hands out the members of the object that the whole text is, each name with the scanner before its value, which
    /// `body` takes.
    ///
    /// - Throws: `deserializationFailed` with the place, never the text.
    mutating func members(
        _ body: (SecretSlice, inout Self) throws(StorageError) -> Void
    ) throws(StorageError) {
        try object(body)
        skipSpace()
        guard position == json.endIndex else { throw unexpected("the end") }
    }

    private mutating func object(
        _ body: (SecretSlice, inout Self) throws(StorageError) -> Void
    ) throws(StorageError) {
        try expect("{")
        guard !take("}") else { return }
        repeat {
            let name = try string()
            try expect(":")
            try body(name, &self)
        } while take(",")
        try expect("}")
    }

    /// A string; `nil` for `null`.
    mutating func stringOrNull() throws(StorageError) -> SecretSlice? { takeWord("null") ? nil : try string() }

    /// Passes over a value of any kind.
    mutating func skipValue() throws(StorageError) { try skipValue(depth: 0) }

    private mutating func skipValue(depth: Int) throws(StorageError) {
        guard depth < Self.deepest else { throw unexpected("less nesting") }
        skipSpace()
        switch current {
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "{"):
            try object { (_, scanner) throws(StorageError) in try scanner.skipValue(depth: depth + 1) }
        case UInt8(ascii: "["):
            try expect("[")
            guard !take("]") else { return }
            repeat { try skipValue(depth: depth + 1) } while take(",")
            try expect("]")
        default:
            if takeWord("null") || takeWord("true") || takeWord("false") { return }
            let start = position
            while let byte = current, "+-.0123456789Ee".utf8.contains(byte) { position += 1 }
            guard position > start else { throw unexpected("a value") }
        }
    }

    private mutating func string() throws(StorageError) -> SecretSlice {
        try expect("\"")
        let text = SecretBuffer()
        while let byte = current, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw unexpected("no control character in a string") }
            position += 1
            if byte == UInt8(ascii: "\\") {
                try appendEscape(to: text)
            } else {
                text.append(contentsOf: CollectionOfOne(byte))
            }
        }
        guard current != nil else { throw unexpected("'\"'") }
        position += 1
        guard text.slice.isUTF8 else { throw unexpected("UTF-8 in the string before it") }
        return text.slice
    }

    private mutating func appendEscape(to text: SecretBuffer) throws(StorageError) {
        guard let byte = current else { throw unexpected("an escape") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(contentsOf: CollectionOfOne(byte))
        case UInt8(ascii: "b"): text.append("\u{8}")
        case UInt8(ascii: "f"): text.append("\u{c}")
        case UInt8(ascii: "n"): text.append("\n")
        case UInt8(ascii: "r"): text.append("\r")
        case UInt8(ascii: "t"): text.append("\t")
        case UInt8(ascii: "u"):
            var units = [try codeUnit()]
            if UTF16.isLeadSurrogate(units[0]), takeWord("\\u") { units.append(try codeUnit()) }
            guard let piece = String(validating: units, as: UTF16.self) else {
                throw unexpected("a whole character in the escape before it")
            }
            text.append(piece)
        default: throw unexpected("an escape")
        }
    }

    private mutating func codeUnit() throws(StorageError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = current.flatMap({ Character(UnicodeScalar($0)).hexDigitValue }) else {
                throw unexpected("four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    private var current: UInt8? { position < json.endIndex ? json[position] : nil }

    private mutating func skipSpace() {
        while let byte = current, " \t\n\r".utf8.contains(byte) { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard current == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func takeWord(_ word: String) -> Bool {
        if word.first != "\\" { skipSpace() }
        guard json[position..<json.endIndex].starts(with: word.utf8) else { return false }
        position += word.utf8.count
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(StorageError) {
        guard take(character) else { throw unexpected("'\(character)'") }
    }

    private func unexpected(_ expected: String) -> StorageError {
        StorageError(
            .deserializationFailed,
            "the credential is not the JSON that Docker sends: expected \(expected) at byte \(position)")
    }
}
