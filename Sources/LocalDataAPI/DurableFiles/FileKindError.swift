/// Something other than a regular file, found where a file is expected. It is neither read, nor followed, nor replaced.
package struct FileKindError: Error, Hashable, Sendable {
    /// Its path.
    package let path: String
    /// Its type.
    package let found: FileKind

    /// Describes the file that was found.
    package init(path: String, found: FileKind) {
        self.path = path
        self.found = found
    }
}

extension FileKindError: CustomStringConvertible {
    /// What was found and what was expected, as a sentence.
    package var description: String { "'\(path)' is \(found.rawValue), expected \(FileKind.regular.rawValue)" }
}
