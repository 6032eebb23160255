internal import CChecksum

/// A record of a file's content when it was written, kept in an extended attribute to detect damage.
public struct ContentRecord: Hashable, Sendable {
    /// The CRC-32C of the content.
    public let checksum: UInt32
    /// Its size in bytes.
    public let size: Int
    /// The file's modification time then, in nanoseconds since 1970 UTC.
    public let modified: Int64

    /// Describes a content.
    public init(checksum: UInt32, size: Int, modified: Int64) {
        self.checksum = checksum
        self.size = size
        self.modified = modified
    }

    func matches(_ content: Checksum) -> Bool { size == content.count && checksum == content.value }

    /// Whether someone replaced the content on purpose: the file has another time of modification, as an editor gives
    /// it and a failing disk does not. That time may be an earlier one, which a program gives it that puts a copy back.
    /// An empty file counts as the remains of a program that died before it wrote.
    func isEdited(_ status: FileStatus) -> Bool {
        !hasTime(status.modified) && (status.size > 0 || size == 0)
    }

    /// Whether a time of modification is the recorded one, as exactly as file systems keep it, rounded down. The
    /// recorded time is that of the file in memory, which is more exact.
    private func hasTime(_ time: Int64?) -> Bool {
        Self.units.contains { modified - modified % $0 == time }
    }

    /// The units of times on file systems, in nanoseconds: up to the 2 s of FAT.
    private static let units: [Int64] = [1, 100, 1000, 1_000_000, 10_000_000, 1_000_000_000, 2_000_000_000]
}

/// The result of comparing a content with its record. Corrupt content is an error.
public enum ContentState: Sendable {
    /// There is no record: others created the file, or the file system keeps no attributes.
    case unrecorded
    /// The content is as it was written.
    case intact
    /// The content was replaced in place since it was written: it was edited, or a copy was put back.
    case edited
}

/// The CRC-32C and the number of bytes that arrive in pieces.
public struct Checksum: Hashable, Sendable {
    /// The CRC-32C (RFC 3720) of all pieces.
    public private(set) var value: UInt32 = 0
    /// The number of bytes.
    public private(set) var count = 0

    /// The checksum of no bytes.
    public init() {}

    /// The checksum of all bytes at once.
    @inline(__always)
    public init(of bytes: UnsafeRawBufferPointer) { add(bytes) }

    /// Adds the next piece.
    @inline(__always)
    public mutating func add(_ bytes: UnsafeRawBufferPointer) {
        value = ld_crc32c(value, bytes.baseAddress, bytes.count)
        count += bytes.count
    }
}

/// An extended attribute for a file to be written; see xattr(7).
public struct FileAttribute: Sendable {
    /// The attribute's name with its namespace, e.g. `user.example`.
    public let name: CString
    /// Its bytes, for a file with the described content. File systems differ in how many they keep; some keep none.
    public let value: @Sendable (ContentRecord) -> [UInt8]

    /// Describes an attribute.
    public init(_ name: CString, _ value: @escaping @Sendable (ContentRecord) -> [UInt8]) {
        self.name = name
        self.value = value
    }
}
