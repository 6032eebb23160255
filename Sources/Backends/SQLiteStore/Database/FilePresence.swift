import Glibc
import LocalDataAPI

/// The kind of file at a path.
enum FilePresence {
    case missing
    case present

    /// Checks the path.
    ///
    /// - Throws: `permissionDenied` and `storeUnavailable` if that is unknown.
    init(_ path: String) throws {
        var status = stat()
        guard stat(path, &status) != 0 else {
            self = .present
            return
        }
        let code = errno
        guard code == ENOENT else { throw StorageError.system(code, "inspect the database '\(path)'") }
        self = .missing
    }
}

/// Whether a database is on a medium that nobody can write to.
enum ReadOnlyMedium {
    /// The medium can be written, or that is unknown.
    case none
    /// The database is completely in its file.
    case withoutLog
    /// There is a log beside it.
    case withLog

    /// Checks the medium.
    init(_ path: String) {
        var medium = statvfs()
        guard statvfs(path, &medium) == 0, medium.f_flag & UInt(ST_RDONLY) != 0 else {
            self = .none
            return
        }
        var log = stat()
        self = stat("\(path)-wal", &log) == 0 && log.st_size > 0 ? .withLog : .withoutLog
    }
}
