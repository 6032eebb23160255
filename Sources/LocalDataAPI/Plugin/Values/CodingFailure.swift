/// Where and why coding failed: the member, what was expected there, and the kind of what was found. Never the value,
/// which may be a secret.
package struct CodingFailure: CustomStringConvertible {
    package let description: String
    /// Whether the value as a whole was refused, rather than something in it.
    package let isAtTop: Bool

    package init(_ error: any Error) { self.init(error, kind: nil) }

    /// - Parameter kind: The kind of what the bytes have at a path; `nil` if they are not well formed, or not known.
    package init(_ error: any Error, kind: (([any CodingKey]) -> String?)?) {
        var path: [any CodingKey] = []
        let (text, isFound): (String, Bool)
        switch error {
        case DecodingError.typeMismatch(let type, let context):
            path = context.codingPath
            (text, isFound) = ("expected \(type) at \(Self.text(path))", true)
        case DecodingError.valueNotFound(let type, let context):
            path = context.codingPath
            (text, isFound) = ("no \(type) at \(Self.text(path))", false)
        case DecodingError.keyNotFound(let key, let context):
            path = context.codingPath
            (text, isFound) = ("no member '\(key.stringValue)' at \(Self.text(path))", false)
        case DecodingError.dataCorrupted(let context):
            path = context.codingPath
            let expected = Self.expected(in: context.debugDescription)
            isFound = kind != nil
            // A type may also refuse bytes that are well formed.
            text =
                if let expected { "expected \(expected) at \(Self.text(path))" } else if path.isEmpty, kind == nil {
                    "not well formed at \(Self.text(path))"
                } else { "a value that its type refuses at \(Self.text(path))" }
        case EncodingError.invalidValue(let value, let context):
            path = context.codingPath
            (text, isFound) = ("\(withArticle(type(of: value))) at \(Self.text(path)) cannot be encoded", false)
        case let fault as any CodingFault: (text, isFound) = (fault.account, false)
        default: (text, isFound) = ("\(type(of: error))", false)
        }
        let found = isFound ? kind?(path) : nil
        description = text + (found.map { ", found \($0)" } ?? "")
        isAtTop = path.isEmpty
    }

    private static func text(_ keys: [any CodingKey]) -> String {
        keys.isEmpty ? "the top" : keys.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
    }
}

/// What the decoders of Foundation and of Swift say only in words.
extension CodingFailure {
    /// What was expected instead of a value that has the right kind.
    private static func expected(in text: String) -> String? {
        // Of `Cannot initialize Theme from invalid String value auto`, the value stays out.
        if let range = text.firstRange(of: " from invalid "), text.hasPrefix(enumeration) {
            return "a case of \(text[..<range.lowerBound].dropFirst(enumeration.count))"
        }
        if let range = text.firstRange(of: " does not fit in ") {
            return "\(text[range.upperBound...].prefix { $0.isLetter || $0.isNumber })"
        }
        return formats[text]
    }

    private static let enumeration = "Cannot initialize "

    private static let formats = [
        "Attempted to decode UUID from invalid UUID string.": "a UUID",
        "Invalid URL string.": "a URL",
        "Encountered Data is not valid Base64.": "Data in base64",
        "Expected date string to be ISO8601-formatted.": "a date in ISO 8601",
    ]
}

/// An error of a format that is not the standard library's.
package protocol CodingFault: Error {
    /// What is wrong, about `it` or `they`.
    var account: String { get }
}
