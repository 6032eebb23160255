/// Why bytes are no JSON, and at which byte. It names no value, as the bytes may be a secret.
package struct JSONFault: Error {
    /// What was expected. Readers who know more of the text say it in other words.
    package enum Reason: String, Sendable {
        case value = "a value"
        case element = "a value or ']'"
        case end = "the end of the text"
        case memberEnd = "',' or '}'"
        case elementEnd = "',' or ']'"
        case name = "the name of a member in quotes"
        case key = "a key or '}'"
        case newName = "a name that no member before has"
        case colon = "':'"
        case depth = "less nesting"
        case stringEnd = "the end of a string"
        case stringEndOnLine = "the end of a string on its line"
        case noControl = "no control character in a string"
        case escape = "an escape that JSON knows"
        case twoDigits = "2 hexadecimal digits"
        case fourDigits = "four hexadecimal digits"
        case character = "an escape that stands for a character"
        case encoding = "a string in UTF-8"
        case digit = "a digit"
        case exponent = "a digit of the exponent"
        case hexadecimalDigit = "a hexadecimal digit"
        case noLeadingZeros = "a number without leading zeros"
        case numberEnd = "the end of the number"
        case finite = "a finite number"
        case comment = "a comment, a value or punctuation"
        case commentEnd = "'*/' at the end of this comment"
        // What only a caller needs.
        case object = "an object"
        case string = "a string"
        case range = "a number that fits 64 bits"
    }

    package let reason: Reason
    package let offset: Int
    /// What stands there, in JSON5.
    package var found: Unicode.Scalar?
    /// The name that is not new, and where it stands first.
    package var repeated: (name: String, first: Int)?
    /// Whether it is in the name of a member.
    package var isInName = false

    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// Line and column of a byte, counted from 1; a column is a byte.
    package static func place(of offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
        let before = bytes.prefix(offset)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return (line, offset - start + 1)
    }
}
