internal import JSON
package import LocalDataAPI

/// The text of one configuration file, with its value and the places of everything in it.
///
/// The text is JSON5 (json5.org) in UTF-8 and holds one object; an empty text or one with only comments stands for the
/// empty object. Beyond what the toolchain's JSON5 decoder refuses, these are errors: a repeated key, nesting deeper
/// than 64, more than 1 MiB, `NaN` and `Infinity`, a line continuation in a string, an escape in an unquoted key.
package struct ConfigurationDocument: Sendable {
    /// The most bytes a text may have.
    package static let maximumSize = 1 << 20
    /// Nesting beyond this is refused, which also bounds the stack.
    package static let maximumDepth = 64

    /// The text, byte for byte as it was given or edited, a byte order mark included.
    package let text: String
    /// Where the text comes from, usually the file's path.
    package let source: String
    /// What the text says; always an object.
    package let value: JSONValue

    let bytes: [UInt8]
    let lines: ConfigurationLines
    /// Nil if the text holds no value.
    let root: JSON?

    /// Reads a text.
    ///
    /// - Parameter source: What to call the text in errors, usually the file's path.
    /// - Throws: `invalidConfiguration`, with source, line and column, and what was expected there.
    package init(text: String, source: String) throws(StorageError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumSize else {
            throw StorageError(
                .invalidConfiguration,
                "\(source): expected at most \(Self.maximumSize) bytes, found \(bytes.count)")
        }
        let lines = ConfigurationLines(bytes)
        do throws(JSONFault) {
            root = try JSON.read(bytes, deepest: Self.maximumDepth, isJSON5: true)
            if let root, !root.isObject { throw JSONFault(.object, at: root.range.lowerBound) }
            value = try root.map { (root) throws(JSONFault) in try JSONValue(root) } ?? .object([:])
        } catch {
            throw error.located(in: source, lines: lines)
        }
        self.text = text
        self.source = source
        self.bytes = bytes
        self.lines = lines
    }

    /// Reads the bytes of a file.
    ///
    /// - Throws: `invalidConfiguration`; for bytes that are not UTF-8 with the line of the first of them.
    package init(bytes: [UInt8], source: String) throws(StorageError) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            let repaired = String(decoding: bytes, as: UTF8.self).utf8
            let offset = zip(repaired, bytes).enumerated().first { $1.0 != $1.1 }?.offset ?? bytes.count
            let (line, column) = ConfigurationLines(bytes).place(of: offset)
            throw StorageError(
                .invalidConfiguration, "\(source):\(line):\(column): expected UTF-8 text, found other bytes",
                hint: "save the file as UTF-8")
        }
        try self.init(text: text, source: source)
    }

    /// Line and column, from 1, of a member's key or an element's value; nil if the text has no such path.
    package func place(of path: [String]) -> (line: Int, column: Int)? {
        root?.member(at: path).map { lines.place(of: $0.nameRange.lowerBound) }
    }

    /// Line and column, from 1, at which the value at a path begins; the empty path is the whole value.
    package func valuePlace(of path: [String]) -> (line: Int, column: Int)? {
        let node = path.isEmpty ? root : root?.member(at: path)?.value
        return node.map { lines.place(of: $0.range.lowerBound) }
    }

    /// The bytes of a member's key and of its value in the text's UTF-8; nil if the text has no such path.
    package func ranges(of path: [String]) -> (key: Range<Int>, value: Range<Int>)? {
        root?.member(at: path).map { ($0.nameRange, $0.value.range) }
    }
}
