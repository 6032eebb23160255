import CLinux
import CSQLite
import Glibc

/// Disk space reserved for removals, so that they can free a full disk. Used by the thread that writes.
///
/// A removal writes to the log. So there are always allocated blocks after the log's end, and a change that would leave
/// none is refused. The database file has as many blocks as it needs when the log is copied into it, which then frees
/// the log's. Nothing is reserved where the file system does not support it.
final class Reserve {
    /// The most bytes that a removal needs: the pages on the way to a value, and those of the free list.
    private static let removal = 64 << 10
    /// Space left to others, and to the log's index: where blocks are smaller than a page, a process that finds none
    /// for the index is killed.
    private static let rest = 96 << 10
    /// The same for a change that reuses pages freed by removals, so that it works when no other does.
    private static let leastRest = 16 << 10
    /// The smallest growth of the database in bytes.
    private static let step: Int32 = 64 << 10

    private let path: String
    private var log: Int32 = -1

    /// - Parameter path: The database's path.
    init(_ path: String) { self.path = path }

    deinit { forgetLog() }

    /// Closes the log's file, which is replaced once no connection has it open.
    func forgetLog() {
        if log >= 0 { _ = close(log) }
        log = -1
    }

    /// Tries to reserve space for a removal, after a change that stores this many bytes; `false` if the disk is full.
    ///
    /// - Parameter usesFreePages: Whether the change fits into the current database file.
    func keep(adding count: Int, usesFreePages: Bool = false) -> Bool {
        guard let status = logStatus() else { return true }
        let wanted = Int(status.st_size) + Self.removal + count + count / 8
        // The log has no holes, so blocks beyond its size are after its end.
        let missing = wanted - Int(status.st_blocks) * 512
        guard missing > 0 else { return true }
        // Checked first, since a file system may allocate what it has, and then report that it was not enough.
        var medium = statvfs()
        guard fstatvfs(log, &medium) == 0 else { return true }
        let space = Int(medium.f_bavail) * Int(medium.f_frsize)
        guard space >= missing + (usesFreePages ? Self.leastRest : Self.rest) else { return false }
        // Reserves more if there is much space, so that not every change has to.
        let end = wanted + (space >= missing + Self.removal + Self.rest ? Self.removal : 0)
        return ld_linux_reserve(log, status.st_size, end - Int(status.st_size)) == 0
            || errno != ENOSPC && errno != EDQUOT
    }

    /// Gives a log what was just freed for it: by ``IdleReserve``, or by emptying the log itself.
    func keepFreed(_ count: Int) {
        guard let status = logStatus() else { return }
        IdleReserve.allocate(count, behind: Int(status.st_size), of: log)
    }

    /// What a new log gets of that.
    static let mostFreed = 2 * removal

    /// The size of the log's blocks in bytes.
    var logSpace: Int { logStatus().map { Int($0.st_blocks) * 512 } ?? 0 }

    private func logStatus() -> stat? {
        if log < 0 { log = open("\(path)-wal", O_RDWR | O_CLOEXEC | O_NOFOLLOW) }
        var status = stat()
        return log >= 0 && fstat(log, &status) == 0 ? status : nil
    }

    /// Allocates the blocks that the database file needs for the pages of the running change, which are in the log.
    /// `SQLITE_FCNTL_SIZE_HINT` is not for this: it writes between the file's end and the new size whatever is there,
    /// and another process may meanwhile be copying pages of earlier changes there.
    ///
    /// - Parameter count: The number of pages before the change.
    /// - Returns: Whether the disk has them.
    static func keepPages(of connection: DatabaseConnection, after count: Int64) throws -> Bool {
        // What a checkpoint leaves of them.
        cutFiles(of: connection, to: Self.step)
        let (size, chunk) = (Int64(DatabaseConnection.pageSize), Int64(step))
        let end = (try connection.pageCount() * size + chunk - 1) / chunk * chunk
        let code = ld_sqlite_extend(connection.handle, count * size, end)
        return code & 0xff != SQLITE_IOERR && code & 0xff != SQLITE_FULL
    }

    /// Lets the next checkpoint of a connection leave nothing in the file behind the last page.
    static func cutFilesExactly(of connection: DatabaseConnection) { cutFiles(of: connection, to: 0) }

    private static func cutFiles(of connection: DatabaseConnection, to step: Int32) {
        var step = step
        sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_CHUNK_SIZE, &step)
    }
}
