package import LocalDataAPI

/// A key path in its text form: segments divided by dots, such as `stores.cache.timeout`.
///
/// A segment with a dot, a quote, an equals sign, white space or nothing in it stands in quotes, with the escapes of
/// JSON5: `domains."x.custom"`. Printing and parsing are inverse. Everywhere else a path is its array of segments.
package struct ConfigurationPath: Sendable, Hashable {
    /// The keys from the outermost to the innermost; an index in an array is a segment of digits.
    package let segments: [String]

    package init(_ segments: [String]) { self.segments = segments }

    /// Parses the text form.
    ///
    /// - Throws: `invalidConfiguration`, with the offending segment's number.
    package init(_ text: String) throws(StorageError) {
        let (path, rest) = try Self.prefix(of: text)
        guard rest.isEmpty else {
            throw Self.error(text, "segment \(path.segments.count) is followed by '\(rest.prefix(1))'")
        }
        self = path
    }

    /// Parses a path at the start of a text, up to the first equals sign outside quotes or the end.
    ///
    /// - Returns: the path, and the rest of the text from the equals sign on.
    package static func prefix(of text: String) throws(StorageError) -> (ConfigurationPath, rest: Substring) {
        var segments: [String] = []
        var rest = text.unicodeScalars[...]
        while true {
            let first = rest.first
            let segment =
                first == "\"" || first == "'"
                ? try quoted(&rest, of: text, number: segments.count + 1) : plain(&rest)
            guard let segment else {
                throw error(text, "segment \(segments.count + 1) is empty or has a character that needs quotes")
            }
            segments.append(segment)
            guard rest.first == "." else { break }
            rest.removeFirst()
        }
        guard rest.isEmpty || rest.first == "=" else {
            throw error(text, "segment \(segments.count) is followed by '\(Substring(rest.prefix(1)))'")
        }
        return (ConfigurationPath(segments), Substring(rest))
    }

    /// The number a segment stands for in an array: digits without sign and leading zero; nil for anything else.
    package static func index(_ segment: String) -> Int? {
        guard let index = Int(segment), index >= 0, String(index) == segment else { return nil }
        return index
    }

    private static func plain(_ rest: inout Substring.UnicodeScalarView) -> String? {
        let segment = rest.prefix(while: isPlain)
        rest = rest[segment.endIndex...]
        return segment.isEmpty ? nil : String(segment)
    }

    private static func quoted(
        _ rest: inout Substring.UnicodeScalarView, of text: String, number: Int
    ) throws(StorageError) -> String {
        let start = rest.startIndex
        let quote = rest.removeFirst()
        var isEscaped = false
        while let scalar = rest.popFirst() {
            if scalar == quote, !isEscaped {
                let token = String(text.unicodeScalars[start..<rest.startIndex])
                guard case .string(let segment) = try JSONValue(json5: token, source: "key path \(text)") else { break }
                return segment
            }
            isEscaped = scalar == "\\" && !isEscaped
        }
        throw error(text, "the quote of segment \(number) is not closed")
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case ".", "=", "\"", "'": false
        default: !scalar.properties.isWhitespace && scalar.properties.generalCategory != .control
        }
    }

    private static func error(_ text: String, _ reason: String) -> StorageError {
        StorageError(
            .invalidConfiguration, "key path '\(text)': \(reason)",
            hint: #"divide keys by dots, and quote a key that has a dot in it, as in domains."x.custom""#)
    }
}

extension ConfigurationPath {
    /// The command that maps a domain to a store, as one pastes it into a shell.
    package static func command(mapping domain: String, to store: String) -> String {
        let path = "\(ConfigurationPath(["domains", domain]))"
        return "ld-host config set \(path.contains("\"") ? PathText.shellQuoted(path) : path) \(store)"
    }
}

extension ConfigurationPath: CustomStringConvertible {
    /// The text form.
    package var description: String {
        segments.map { segment in
            if !segment.isEmpty, segment.unicodeScalars.allSatisfy(Self.isPlain) { return segment }
            return (try? JSONValue.string(segment).serialized()) ?? segment
        }.joined(separator: ".")
    }
}
