internal import ByteCoding
import Glibc

/// The status of an open file; see fstat(2).
public struct FileStatus: Sendable {
    /// Its type.
    public let kind: FileKind
    /// Its size in bytes.
    public let size: Int
    /// When its content was last modified, in nanoseconds since 1970 UTC; `nil` outside of the years 1678 to 2262.
    public let modified: Int64?
    /// Changes with the file's content, attributes or name; not comparable between files.
    private let changed: Int64
    /// Whether the file still has a name.
    let isLinked: Bool
    /// The file's identity.
    let identity: FileIdentity

    init(_ status: stat) {
        kind = FileKind(mode: status.st_mode)
        size = Int(status.st_size)
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim) ?? 0
        isLinked = status.st_nlink > 0
        identity = FileIdentity(status)
    }

    /// Whether the file changed so recently that a later change may have left the same times: file systems count them
    /// in steps of up to 10 ms, and some in whole seconds, such as ext4 with small inodes, or in two of them.
    public var isRecent: Bool {
        var now = timespec()
        guard clock_gettime(CLOCK_REALTIME, &now) == 0, let time = Self.nanoseconds(now) else { return true }
        let isWhole = changed % 1_000_000_000 == 0
        return time < changed || time - changed < (isWhole ? 2_100_000_000 : 100_000_000)
    }

    /// Whether the same file had the same content earlier, judging by its times. Losing the last name also changes a
    /// file's change time.
    func isSameContent(as earlier: FileStatus) -> Bool {
        size == earlier.size && modified == earlier.modified && (changed == earlier.changed || !isLinked)
    }

    /// Whether it is the same unchanged file, judging by its times.
    public func isUnchanged(since earlier: FileStatus) -> Bool {
        identity == earlier.identity && changed == earlier.changed && isSameContent(as: earlier)
    }

    /// A hash of what distinguishes this file and its content from others, judging by its times.
    public var fingerprint: UInt64 {
        var hash = StableHash.start
        withUnsafeBytes(of: (size, modified ?? 0, changed)) { StableHash.add($0, to: &hash) }
        withUnsafeBytes(of: identity) { StableHash.add($0, to: &hash) }
        return hash
    }

    private static func nanoseconds(_ time: timespec) -> Int64? {
        let (seconds, isTooLarge) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooLate) = seconds.addingReportingOverflow(Int64(time.tv_nsec))
        return isTooLarge || isTooLate ? nil : sum
    }
}

/// Identifies a file of the system while it exists. Later, another file may get the same number.
public struct FileIdentity: Hashable, Sendable {
    private let device: dev_t
    private let inode: ino_t

    init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
    }
}
