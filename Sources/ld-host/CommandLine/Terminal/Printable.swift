/// Text for a line of output: control characters, which a name may have, are shown as escapes, so that a line stays a
/// line and a terminal is not steered.
struct Printable: CustomStringConvertible {
    let description: String

    init(_ text: String) {
        guard text.unicodeScalars.contains(where: Self.isControl) else {
            description = text
            return
        }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case _ where Self.isControl(scalar): result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        description = result
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) || (0x202a...0x202e).contains(scalar.value)
            || (0x2066...0x2069).contains(scalar.value)
    }
}
