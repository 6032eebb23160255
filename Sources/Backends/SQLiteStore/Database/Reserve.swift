import CLinux
import CSQLite
import Glibc

/// Room on the disk that only removals use, so that a full disk can be freed with them. Used by the thread that writes.
///
/// A removal writes to the log. So behind the log's end there are always blocks that the file system has given to it
/// already, and a change that stores something is refused if there would be none left. The database file has as many
/// blocks as it will need when the log is brought into it, which then gives back the log's. Nothing is reserved where
/// the file system cannot do that.
final class Reserve {
    /// What a removal may need: the pages on the way to a value, and those of the list of free ones.
    private static let removal = 64 << 10
    /// What is left to others, and to the log's index: where blocks are smaller than a page, a process that finds none
    /// for it is killed.
    private static let rest = 96 << 10
    /// The same for a change that uses pages which removals have freed, so that it works when no other does.
    private static let leastRest = 16 << 10
    /// The database grows by this many bytes at least.
    private static let step: Int32 = 64 << 10

    private let path: String
    private var log: Int32 = -1

    /// - Parameter path: The database's.
    init(_ path: String) { self.path = path }

    deinit { forgetLog() }

    /// Closes the log's file, of which there is another once no connection has it open.
    func forgetLog() {
        if log >= 0 { _ = close(log) }
        log = -1
    }

    /// Tries to keep room for a removal, after a change that stores this many bytes; `false` if the disk is full.
    ///
    /// - Parameter usesFreePages: Whether the change does not need a larger database.
    func keep(adding count: Int, usesFreePages: Bool = false) -> Bool {
        if log < 0 { log = open("\(path)-wal", O_RDWR | O_CLOEXEC | O_NOFOLLOW) }
        var status = stat()
        guard log >= 0, fstat(log, &status) == 0 else { return true }
        let wanted = Int(status.st_size) + Self.removal + count + count / 8
        // The log has no holes, so what it has beyond its size is behind its end.
        let missing = wanted - Int(status.st_blocks) * 512
        guard missing > 0 else { return true }
        // Asked before, since a file system may give what it has, and then say that it was not enough.
        var medium = statvfs()
        guard fstatvfs(log, &medium) == 0 else { return true }
        let space = Int(medium.f_bavail) * Int(medium.f_frsize)
        guard space >= missing + (usesFreePages ? Self.leastRest : Self.rest) else { return false }
        // Some more, if there is much, so that not each change asks for it.
        let end = wanted + (space >= missing + Self.removal + Self.rest ? Self.removal : 0)
        return ld_linux_reserve(log, status.st_size, end - Int(status.st_size)) == 0
            || errno != ENOSPC && errno != EDQUOT
    }

    /// Gives the database file the blocks that it needs for all its pages, those in the log among them.
    ///
    /// - Returns: Whether the disk has them.
    static func keepPages(of connection: Connection) throws -> Bool {
        var step = Self.step
        sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_CHUNK_SIZE, &step)
        let pages = try connection.statement(.pageCount)
        guard try pages.step() else { return true }
        var size = sqlite3_int64(pages.number(0)) * sqlite3_int64(Connection.pageSize)
        let code = sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_SIZE_HINT, &size)
        return code & 0xff != SQLITE_IOERR && code & 0xff != SQLITE_FULL
    }
}
