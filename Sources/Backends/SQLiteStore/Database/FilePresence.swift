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
