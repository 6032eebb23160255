package import FoundationEssentials
internal import LocalDataAPI

/// Makes text from outside safe to show: the text of a plugin, a configuration, a key's name or an error may contain
/// line breaks that forge a second line, escape sequences that control a terminal, and marks that reverse the order of
/// letters.
package enum PrintableText {
    /// The text with escapes such as `\n` and `\u{202e}` in place of control characters (C0, DEL and C1), line and
    /// paragraph separators, and marks that direct the order of letters. Everything else is kept.
    package static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnfit) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case _ where isUnfit(scalar): result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// JSON text with `\u202e` and the like in place of the same characters: equivalent JSON that cannot control a
    /// terminal. Line breaks between tokens are kept.
    package static func escaped(json: Data) -> Data {
        // Every such character that JSON does not itself escape begins with one of these bytes.
        guard json.contains(where: { $0 == 0x7F || $0 == 0xC2 || $0 == 0xD8 || $0 == 0xE2 }) else { return json }
        var result = Data()
        result.reserveCapacity(json.count + 64)
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            if isUnfit(scalar), scalar.value >= 0x7F {
                let digits = String(scalar.value, radix: 16)
                result.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.utf8.count))\(digits)".utf8)
            } else {
                result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
        return result
    }

    /// Whether a character must not be shown.
    package static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
