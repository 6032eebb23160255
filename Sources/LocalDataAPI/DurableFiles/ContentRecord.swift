/// What a file's content was when it was written; kept in one of its attributes, so that damage is noticed.
package struct ContentRecord: Hashable, Sendable {
    /// Checksum and size of the content.
    package let checksum: UInt32
    /// Its size in bytes.
    package let size: Int
    /// When the file was last changed then, in nanoseconds since 1970 UTC.
    package let modified: Int64

    /// Describes a content.
    package init(checksum: UInt32, size: Int, modified: Int64) {
        self.checksum = checksum
        self.size = size
        self.modified = modified
    }

    func matches(_ content: Checksum) -> Bool { size == content.count && checksum == content.value }

    /// Whether content of another checksum was put there on purpose: the file was changed later, as an editor does and
    /// a failing disk does not. A file that was emptied is taken for what a program left that died before it wrote.
    func isEdited(_ status: FileStatus) -> Bool {
        (status.modified ?? .max) > modified && (status.size > 0 || size == 0)
    }
}

/// What a content is, beside what was recorded of it. Corrupt content is an error.
package enum ContentState: Sendable {
    /// Nothing was recorded: a file that others made, or on a file system that keeps no attributes.
    case unrecorded
    /// As it was written.
    case intact
    /// Edited in place since it was written.
    case edited
}

/// A file whose bytes are not those that were written to it.
package struct CorruptFileError: Error, Hashable, Sendable {
    /// The file.
    package let path: String
}

extension CorruptFileError: CustomStringConvertible {
    /// The file and what is wrong, as a sentence.
    package var description: String { "'\(path)' is corrupt: its bytes are not those that were stored" }
}
