/// Something other than a regular file stands where a file is kept. It is neither read, nor followed, nor replaced.
package struct FileKindError: Error, Hashable, Sendable {
    /// Where it stands.
    package let path: String
    /// What it is.
    package let found: FileKind

    /// Describes what was found.
    package init(path: String, found: FileKind) {
        self.path = path
        self.found = found
    }
}

extension FileKindError: CustomStringConvertible {
    /// What was found and what was expected, as a sentence.
    package var description: String { "'\(path)' is \(found.rawValue), expected \(FileKind.regular.rawValue)" }
}
