import Glibc
import LocalDataAPI

/// What has a path.
enum FilePresence {
    case missing
    case present

    /// Looks.
    ///
    /// - Throws: `permissionDenied` and `storeUnavailable` if that cannot be told.
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
    /// The medium can be written, or that cannot be told.
    case none
    /// All that the database holds is in its file.
    case withoutLog
    /// There is a log beside it.
    case withLog

    /// Looks.
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
