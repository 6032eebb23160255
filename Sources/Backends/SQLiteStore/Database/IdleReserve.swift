import CLinux
import DurableFiles
import Glibc

/// Disk space that a database keeps which nobody has open, so that it can be opened on a full disk, and values can be
/// removed from it: the log and its index have to be made for that.
///
/// It is behind the end of the database's own file, where SQLite uses it when the database grows, and frees it when it
/// copies a log. Nothing is kept where the file system does not support it.
struct IdleReserve {
    /// For the index, a removal's pages in the log, and what ``Reserve`` leaves to others.
    private static let size = 192 << 10
    private static let room = 8 << 20

    /// The database's path.
    let path: String

    /// Whether the disk has so much space that a log which is removed is soon made again.
    var hasRoom: Bool {
        var medium = statvfs()
        return statvfs(path, &medium) != 0 || Int(medium.f_bavail) * Int(medium.f_frsize) >= Self.room
    }

    /// Frees the space if the log is missing and the disk is full, so that it can be used for the log.
    ///
    /// - Returns: Whether it was freed; then the log should get it, whatever else the disk lacks.
    func take() -> Bool {
        var medium = statvfs()
        guard !hasLog, statvfs(path, &medium) == 0 else { return false }
        guard Int(medium.f_bavail) * Int(medium.f_frsize) < Self.size else { return false }
        var isFreed = false
        alone { file, size in isFreed = ftruncate(file, off_t(size)) == 0 }
        return isFreed
    }

    /// Allocates the space, or as much as there is.
    func keep() {
        guard !hasLog else { return }
        alone { file, size in
            var (status, limit) = (stat(), rlimit())
            // Allocating it once more would change the file's time.
            guard fstat(file, &status) == 0, Int(status.st_blocks) * 512 < size + Self.size else { return }
            // Some file systems end a process that allocates beyond its limit.
            guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, limit.rlim_cur == .max else {
                return
            }
            Self.allocate(Self.size, behind: size, of: file)
        }
    }

    /// Allocates space behind the end of a file, or nearly as much as there is.
    static func allocate(_ count: Int, behind end: Int, of file: Int32) {
        var rest = count
        while rest > 0, ld_linux_reserve(file, off_t(end), off_t(rest)) != 0, errno == ENOSPC || errno == EDQUOT {
            rest -= 16 << 10
        }
    }

    private var hasLog: Bool {
        var status = stat()
        return stat("\(path)-wal", &status) == 0
    }

    /// Runs `body` with the file and its size, if nobody has the database open, and keeps it so meanwhile: every
    /// connection has a lock on the file, which this one excludes.
    private func alone(_ body: (Int32, Int) -> Void) {
        let file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return }
        // If another one has it open, maybe of this process, the file stays open: closing it would drop the locks of
        // this process.
        guard OpenFileLock.take(file) else { return }
        var status = stat()
        if fstat(file, &status) == 0 { body(file, Int(status.st_size)) }
        // This ends the lock.
        _ = close(file)
    }
}
