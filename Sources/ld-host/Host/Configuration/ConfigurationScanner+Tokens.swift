extension ConfigurationScanner {
    /// Skips white space and comments. White space is what the decoder takes for it: only that of ASCII.
    mutating func skipTrivia() throws(ConfigurationFault) {
        while let byte = current {
            switch byte {
            case 0x09...0x0D, 0x20: position += 1
            case UInt8(ascii: "/"): try skipComment()
            default: return
            }
        }
    }

    /// Skips one comment, from its first slash; a line comment's line break stays.
    mutating func skipComment() throws(ConfigurationFault) {
        let start = position
        position += 1
        if isAt("/") {
            while let byte = current, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") { position += 1 }
        } else if isAt("*") {
            position += 1
            while current != nil {
                if isAt("*"), position + 1 < bytes.count, bytes[position + 1] == UInt8(ascii: "/") {
                    position += 2
                    return
                }
                position += 1
            }
            throw ConfigurationFault(offset: start, message: "expected '*/' at the end of this comment, found none")
        } else {
            position = start
            throw fault(expected: "a comment, a value or punctuation")
        }
    }

    mutating func skipString() throws(ConfigurationFault) {
        let start = position
        let quote = bytes[position]
        position += 1
        while let byte = current {
            switch byte {
            case quote:
                position += 1
                return
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                throw ConfigurationFault(
                    offset: start, message: "expected the closing quote of this string on its line",
                    hint: "write a line break as \\n")
            case 0..<0x20:
                throw fault(expected: "no control character in a string", hint: "write it as an escape, such as \\t")
            case UInt8(ascii: "\\"):
                try skipEscape()
            default:
                position += 1
            }
        }
        throw ConfigurationFault(
            offset: start, message: "expected the closing quote of this string, found the end of the text")
    }

    private mutating func skipEscape() throws(ConfigurationFault) {
        position += 1
        guard let byte = current else { return }
        switch byte {
        case UInt8(ascii: "x"):
            try skipHexadecimal(2)
        case UInt8(ascii: "u"):
            try skipHexadecimal(4)
        case let byte where "\"'\\/bfnrt".utf8.contains(byte):
            position += 1
        default:
            throw fault(expected: "one of \" ' \\ / b f n r t x u after the backslash")
        }
    }

    private mutating func skipHexadecimal(_ count: Int) throws(ConfigurationFault) {
        position += 1
        for _ in 0..<count {
            guard let byte = current, Self.isHexadecimal(byte) else {
                throw fault(expected: "\(count) hexadecimal digits")
            }
            position += 1
        }
    }

    static func startsNumber(_ byte: UInt8) -> Bool { isDigit(byte) || "+-.".utf8.contains(byte) }

    /// A number by the grammar of JSON5; whether it fits is for the decoder to say.
    mutating func skipNumber() throws(ConfigurationFault) {
        if isAt("+") || isAt("-") { position += 1 }
        if isAt("I") || isAt("N") { throw notFinite }
        if isAt("0"), position + 1 < bytes.count, bytes[position + 1] | 0x20 == UInt8(ascii: "x") {
            position += 2
            guard skip(while: Self.isHexadecimal) > 0 else { throw fault(expected: "a hexadecimal digit") }
        } else {
            let start = position
            let whole = skip(while: Self.isDigit)
            if whole > 1, bytes[start] == UInt8(ascii: "0") {
                throw ConfigurationFault(offset: start, message: "expected a number without leading zeros")
            }
            var fraction = 0
            if isAt(".") {
                position += 1
                fraction = skip(while: Self.isDigit)
            }
            guard whole + fraction > 0 else { throw fault(expected: "a digit") }
            if let byte = current, byte | 0x20 == UInt8(ascii: "e") {
                position += 1
                if isAt("+") || isAt("-") { position += 1 }
                guard skip(while: Self.isDigit) > 0 else { throw fault(expected: "a digit of the exponent") }
            }
        }
        if let scalar = scalar(at: position),
            Self.continuesKey(scalar) || scalar == "." || scalar == "-" || scalar == "+"
        {
            throw fault(expected: "the end of the number")
        }
    }

    /// `true`, `false` or `null`; any other word is most likely a text without its quotes.
    mutating func skipWord() throws(ConfigurationFault) {
        let start = position
        while let scalar = scalar(at: position), Self.continuesKey(scalar) { position += UTF8.width(scalar) }
        switch String(decoding: bytes[start..<position], as: UTF8.self) {
        case "true", "false", "null":
            return
        case "Infinity", "NaN":
            position = start
            throw notFinite
        case let word:
            position = start
            throw fault(expected: "a value", hint: word.isEmpty ? "" : "a text needs quotes")
        }
    }

    /// An unquoted key: an ECMAScript identifier without escapes, as the decoder takes it.
    mutating func skipIdentifier(expected: String) throws(ConfigurationFault) {
        guard let first = scalar(at: position), Self.startsKey(first) else {
            let isEscape = isAt("\\") || current.map(Self.isDigit) == true
            throw fault(expected: expected, hint: isEscape ? "a key that is not a plain word needs quotes" : "")
        }
        while let scalar = scalar(at: position), Self.continuesKey(scalar) { position += UTF8.width(scalar) }
    }

    /// A fault here, with what stands here in place of what was expected: one character at most, as a configuration
    /// may hold secrets.
    func fault(expected: String, hint: String = "") -> ConfigurationFault {
        let found =
            switch scalar(at: position) {
            case nil: "the end of the text"
            case let scalar? where scalar.value < 0x20 || scalar.value == 0x7F:
                "the control character \(scalar.value)"
            case let scalar?: "'\(scalar)'"
            }
        return ConfigurationFault(offset: position, message: "expected \(expected), found \(found)", hint: hint)
    }

    private var notFinite: ConfigurationFault {
        ConfigurationFault(offset: position, message: "expected a finite number")
    }

    private mutating func skip(while condition: (UInt8) -> Bool) -> Int {
        let start = position
        while let byte = current, condition(byte) { position += 1 }
        return position - start
    }

    private func scalar(at offset: Int) -> Unicode.Scalar? {
        guard offset < bytes.count else { return nil }
        if bytes[offset] < 0x80 { return Unicode.Scalar(bytes[offset]) }
        return String(decoding: bytes[offset..<min(offset + 4, bytes.count)], as: UTF8.self).unicodeScalars.first
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || UInt8(ascii: "a")...UInt8(ascii: "f") ~= (byte | 0x20)
    }

    private static func startsKey(_ scalar: Unicode.Scalar) -> Bool {
        // Of ASCII without a look into Unicode's tables, which takes longer than all the rest.
        if scalar.isASCII {
            let letter = scalar.value | 0x20
            return letter >= 0x61 && letter <= 0x7A || scalar == "$" || scalar == "_"
        }
        return switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber: true
        default: false
        }
    }

    private static func continuesKey(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return startsKey(scalar) || isDigit(UInt8(ascii: scalar)) }
        return switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .decimalNumber, .connectorPunctuation: true
        default: startsKey(scalar) || scalar == "\u{200C}" || scalar == "\u{200D}"
        }
    }
}
