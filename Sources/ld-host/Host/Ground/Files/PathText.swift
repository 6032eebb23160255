package import LocalDataAPI

/// Formats a path from outside for a message, or for a command to be copied.
///
/// A file name may contain anything but `/` and NUL: a line break that forges a second message, an escape sequence for
/// the terminal, a right-to-left override that shows `jpg.os` as `so.gpj`.
package enum PathText {
    private static let longest = 320

    /// A path that the system gives as bytes, since a setting says so or a link leads there.
    ///
    /// - Parameter origin: What gave it, for the error.
    /// - Throws: `invalidConfiguration` if it is not UTF-8: as text it would be another path.
    package static func string(
        _ path: UnsafePointer<CChar>, from origin: @autoclosure () -> String
    ) throws(StorageError) -> String {
        if let text = String(validatingCString: path) { return text }
        throw StorageError(
            .invalidConfiguration, "\(origin()) is '\(shown(String(cString: path)))'; expected a path in UTF-8",
            hint: "rename the folder whose name is not UTF-8, or use another one")
    }

    /// The path with invisible characters escaped and backslashes doubled; a very long path is shortened in the middle.
    package static func shown(_ path: String) -> String {
        let scalars = path.unicodeScalars
        guard scalars.count > longest else { return escaped(scalars[...]) }
        let head = escaped(scalars.prefix(longest / 2))
        let tail = escaped(scalars.suffix(longest / 2))
        return "\(head)[... \(scalars.count - longest) more ...]\(tail)"
    }

    /// The path as one word for a POSIX shell; if it has invisible characters, for bash, zsh and any shell of
    /// POSIX.1-2024.
    package static func shellQuoted(_ path: String) -> String {
        guard path.unicodeScalars.contains(where: isInvisible) else {
            return "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
        }
        var quoted = "$'"
        for scalar in path.unicodeScalars {
            if scalar == "'" || scalar == "\\" {
                quoted += "\\\(scalar)"
            } else if isInvisible(scalar) {
                for byte in String(scalar).utf8 { quoted += "\\" + octal(UInt32(byte), digits: 3) }
            } else {
                quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "'"
    }

    /// A number in octal with at least this many digits, as for file modes.
    package static func octal(_ number: UInt32, digits: Int = 4) -> String {
        let text = String(number, radix: 8)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private static func escaped(_ scalars: Substring.UnicodeScalarView) -> String {
        var text = ""
        for scalar in scalars {
            switch scalar {
            case "\\": text += #"\\"#
            case "\n": text += #"\n"#
            case "\r": text += #"\r"#
            case "\t": text += #"\t"#
            case _ where isInvisible(scalar): text += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        // Stricter than for other text: people compare paths by eye, and a path needs no joiners.
        PrintableText.isUnfit(scalar) || scalar.properties.generalCategory == .format
    }
}
