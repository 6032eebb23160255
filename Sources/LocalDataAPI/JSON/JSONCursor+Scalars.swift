extension JSONCursor {
    /// Passes over a string, from its first quote, and hands out the bytes of its text. Whether they are UTF-8 is not
    /// looked at.
    package mutating func string(_ append: (UInt8) -> Void) throws(JSONFault) {
        let start = position
        let quote = current
        position += 1
        while let byte = current {
            switch byte {
            case _ where byte == quote:
                position += 1
                return
            case UInt8(ascii: "\\"):
                guard let character = try escape(in: start) else { continue }
                for byte in character { append(byte) }
            case 0..<0x20:
                let endsLine = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
                throw isJSON5 && endsLine ? fault(.stringEndOnLine, at: start) : fault(.noControl)
            default:
                append(byte)
                position += 1
            }
        }
        throw fault(.stringEnd, at: isJSON5 ? start : nil)
    }

    /// The character that an escape stands for; `nil` if the text ends in it.
    private mutating func escape(in string: Int) throws(JSONFault) -> Unicode.Scalar.UTF8View? {
        let start = position
        position += 1
        guard let byte = current else { return nil }
        position += 1
        let scalar: Unicode.Scalar
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): scalar = Unicode.Scalar(byte)
        case UInt8(ascii: "b"): scalar = "\u{8}"
        case UInt8(ascii: "f"): scalar = "\u{C}"
        case UInt8(ascii: "n"): scalar = "\n"
        case UInt8(ascii: "r"): scalar = "\r"
        case UInt8(ascii: "t"): scalar = "\t"
        case UInt8(ascii: "'") where isJSON5: scalar = "'"
        case _ where byte == UInt8(ascii: "u") || isJSON5 && byte == UInt8(ascii: "x"):
            var units = [try unit(byte == UInt8(ascii: "x") ? 2 : 4)]
            if UTF16.isLeadSurrogate(units[0]), take("\\"), take("u") { units.append(try unit(4)) }
            // The decoder takes no NUL in JSON5.
            guard let text = String(validating: units, as: UTF16.self), !isJSON5 || units != [0],
                let scalar = text.unicodeScalars.first
            else { throw fault(.character, at: isJSON5 ? string : start) }
            return scalar.utf8
        default: throw fault(.escape, at: isJSON5 ? position - 1 : start)
        }
        return scalar.utf8
    }

    private mutating func unit(_ count: Int) throws(JSONFault) -> UInt16 {
        let start = position
        var unit: UInt16 = 0
        for _ in 0..<count {
            guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw fault(count == 2 ? .twoDigits : .fourDigits, at: isJSON5 ? nil : start)
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    /// Passes over a number; whether it fits anywhere is for the caller to say.
    package mutating func skipNumber() throws(JSONFault) {
        if !take("-"), isJSON5 { _ = take("+") }
        if isJSON5 {
            if isAt("I") || isAt("N") { throw fault(.finite) }
            let start = position
            if take("0"), take("x") || take("X") {
                guard skip(while: \.isHexadecimal) > 0 else { throw fault(.hexadecimalDigit) }
                return try endNumber()
            }
            position = start
        }
        let start = position
        let whole = !isJSON5 && take("0") ? 1 : skip(while: \.isDigit)
        if isJSON5, whole > 1, bytes.byte(at: start) == UInt8(ascii: "0") { throw fault(.noLeadingZeros, at: start) }
        guard isJSON5 || whole > 0 else { throw fault(.digit) }
        let hasPoint = take(".")
        let fraction = hasPoint ? skip(while: \.isDigit) : 0
        guard isJSON5 ? whole + fraction > 0 : !hasPoint || fraction > 0 else { throw fault(.digit) }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            guard skip(while: \.isDigit) > 0 else { throw fault(isJSON5 ? .exponent : .digit) }
        }
        try endNumber()
    }

    private func endNumber() throws(JSONFault) {
        guard isJSON5, let scalar = scalar(at: position) else { return }
        guard !scalar.continuesName, !".+-".unicodeScalars.contains(scalar) else { throw fault(.numberEnd) }
    }

    /// Passes over a word if it comes next; in JSON5 if it is a whole one.
    package mutating func take(word: String) -> Bool {
        var end = position
        for byte in word.utf8 {
            guard bytes.byte(at: end) == byte else { return false }
            end += 1
        }
        if isJSON5, scalar(at: end)?.continuesName == true { return false }
        position = end
        return true
    }

    /// Passes over a name without quotes: an ECMAScript identifier without escapes, as the decoder takes it.
    mutating func skipIdentifier() throws(JSONFault) {
        guard scalar(at: position)?.startsName == true else { throw fault(.key) }
        while let scalar = scalar(at: position), scalar.continuesName { position += UTF8.width(scalar) }
    }

    /// The fault of something that begins no value.
    var noValue: JSONFault {
        var word = self
        return fault(isJSON5 && (word.take(word: "Infinity") || word.take(word: "NaN")) ? .finite : .value)
    }

    /// Passes over a value of any kind, of at most `deepest` nested ones.
    package mutating func skipValue(deepest: Int) throws(JSONFault) {
        if isAt("\"") { return try string { _ in } }
        if Self.startsNumber(current, isJSON5) { return try skipNumber() }
        guard var level = enter(object: true) ?? enter(object: false) else {
            guard take(word: "true") || take(word: "false") || take(word: "null") else { throw noValue }
            return
        }
        guard deepest > 0 else { throw fault(.depth, at: position - 1) }
        while try hasNext(in: &level) {
            if level.isObject {
                guard isAt("\"") else { throw fault(.name) }
                try string { _ in }
                try skipColon()
            }
            try skipValue(deepest: deepest - 1)
        }
    }

    private mutating func skip(while condition: (UInt8) -> Bool) -> Int {
        let start = position
        while let byte = current, condition(byte) { position += 1 }
        return position - start
    }

    static func startsNumber(_ byte: UInt8?, _ isJSON5: Bool) -> Bool {
        guard let byte else { return false }
        return byte.isDigit || byte == UInt8(ascii: "-") || isJSON5 && "+.".utf8.contains(byte)
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
    fileprivate var isHexadecimal: Bool { isDigit || UInt8(ascii: "a")...UInt8(ascii: "f") ~= (self | 0x20) }
}

extension Unicode.Scalar {
    fileprivate var startsName: Bool {
        // Of ASCII without a look into Unicode's tables, which takes longer than all the rest.
        if isASCII { return 0x61...0x7A ~= (value | 0x20) || self == "$" || self == "_" }
        return switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber: true
        default: false
        }
    }

    /// Whether a name without quotes may have it behind the first character.
    package var continuesName: Bool {
        if isASCII { return startsName || 0x30...0x39 ~= value }
        return switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .decimalNumber, .connectorPunctuation: true
        default: startsName || self == "\u{200C}" || self == "\u{200D}"
        }
    }
}
