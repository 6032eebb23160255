internal import CLinux
package import Glibc

/// A real path that other users cannot change according to `FileTrust`, and the file's identity at that moment.
///
/// As long as the process keeps its user, only that user and root can put another file there.
package struct TrustedPath: Hashable, Sendable {
    /// The absolute path without symbolic links; the only one to open from now on.
    package let path: String
    /// The file's identity when it was checked.
    package let identity: FileVersion

    /// Only for `FileTrust`, whose check makes the path trusted.
    init(path: String, identity: FileVersion) {
        self.path = path
        self.identity = identity
    }
}

/// Identifies one content of one file, for use in caches: equal identities mean equal bytes.
///
/// The change time moves with every write and cannot be set back by `utimensat(2)`. So a file that was rewritten in
/// place and given its old modification time still differs. Within one tick of the kernel's clock (up to 10 ms) two
/// writes may look like one.
package struct FileVersion: Hashable, Sendable {
    /// The device number of the file system.
    package let device: UInt64
    /// The inode number of the file.
    package let inode: UInt64
    /// The size in bytes.
    package let size: Int64
    /// When the content last changed, in nanoseconds since 1970; wraps around for times beyond the year 2262.
    package let modified: Int64
    /// When content, owner or mode last changed, in nanoseconds since 1970; wraps around as `modified` does.
    package let changed: Int64

    /// The identity in a result of `stat(2)`.
    package init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim)
    }

    // Some file systems keep any 64-bit number of seconds, and an owner can set one: the sum must not trap.
    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
