internal import JSON
package import LocalDataAPI

/// One thing that is wrong with a configuration, and where.
package struct ConfigurationProblem: Error, Equatable {
    /// The key path.
    package let path: [String]
    /// Where the value comes from: a file with line and column, a flag, code.
    package let origin: ConfigurationOrigin
    /// The problem: what was expected and what was found.
    package let message: String
    /// The advice; may be empty.
    package let hint: String

    package init(path: [String], origin: ConfigurationOrigin, message: String, hint: String) {
        self.path = path
        self.origin = origin
        self.message = message
        self.hint = hint
    }

    /// All problems as one error of the code `invalidConfiguration`, a line for each; nil if there are none.
    package static func error(for problems: [ConfigurationProblem]) -> StorageError? {
        guard let first = problems.first else { return nil }
        if problems.count == 1 { return first.error }
        return StorageError(.invalidConfiguration, problems.map(\.description).joined(separator: "\n"))
    }

    /// As an error of the code `invalidConfiguration`.
    package var error: StorageError { StorageError(.invalidConfiguration, text, hint: hint) }

    private var text: String {
        let place = path.isEmpty ? "" : "\(ConfigurationPath(path)): "
        return "\(origin.placed): \(place)\(message)"
    }
}

extension StorageError {
    /// The mistakes that the error lists, a line for each, as those of a configuration or of a pack's options; of any
    /// other error, its message, whose line breaks may come from a name.
    package var mistakes: [String] {
        guard code == .invalidConfiguration || code == .invalidOptions else { return [message] }
        return message.split(separator: "\n").map(String.init)
    }
}

extension ConfigurationProblem: CustomStringConvertible {
    /// Origin, key path, message, and the hint in brackets.
    package var description: String { hint.isEmpty ? text : "\(text) (\(hint))" }
}

extension JSONFault {
    /// The error with the names of the file and the place.
    func located(in source: String, lines: ConfigurationLines) -> StorageError {
        let (line, column) = lines.place(of: offset)
        let (message, hint) = wording
        var twice = ""
        if let repeated {
            twice =
                " '\(repeated.name)' is given twice, "
                + "first on line \(lines.place(of: repeated.first).line) and again on line \(line)"
        }
        return StorageError(
            .invalidConfiguration, "\(source):\(line):\(column): \(message)\(twice)", hint: hint)
    }

    private var wording: (message: String, hint: String) {
        let text = reason.rawValue
        switch reason {
        case .value: return expected(text, hint: found?.continuesName == true ? "a text needs quotes" : "")
        case .object: return ("expected an object in braces", "")
        case .key:
            let isOther = found.map { $0 == "\\" || ("0"..."9").contains($0) } ?? false
            return expected(text, hint: isOther ? "a key that is not a plain word needs quotes" : "")
        case .newName: return ("the key", "remove one of the two")
        case .colon: return expected("':' after the key")
        case .depth: return ("expected at most \(ConfigurationDocument.maximumDepth) nested values, found more", "")
        case .stringEnd: return ("expected the closing quote of this string, found the end of the text", "")
        case .stringEndOnLine:
            return ("expected the closing quote of this string on its line", "write a line break as \\n")
        case .noControl: return expected(text, hint: "write it as an escape, such as \\t")
        case .escape: return expected("one of \" ' \\ / b f n r t x u after the backslash")
        case .fourDigits: return expected("4 hexadecimal digits")
        case .character where isInName: return ("expected a key that is valid Unicode", "")
        case .character, .range: return ("expected a value that the JSON5 decoder can represent", "")
        case .noLeadingZeros, .finite: return ("expected \(text)", "")
        case .commentEnd: return ("expected \(text), found none", "")
        default: return expected(text)
        }
    }

    /// What stands in place of what was expected is one character at most, as a configuration may hold secrets.
    private func expected(_ expected: String, hint: String = "") -> (message: String, hint: String) {
        let found =
            switch found {
            case nil: "the end of the text"
            case let scalar? where scalar.value < 0x20 || scalar.value == 0x7F:
                "the control character \(scalar.value)"
            case let scalar?: "'\(scalar)'"
            }
        return ("expected \(expected), found \(found)", hint)
    }
}
