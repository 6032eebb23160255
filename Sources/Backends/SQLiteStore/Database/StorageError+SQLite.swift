import CSQLite
import DurableFiles
import Glibc
import LocalDataPluginAPI

extension DatabaseConnection {
    /// The error of the last call, with SQLite's text for the code: its longer messages may quote stored data.
    func failure(_ verb: String = "use") -> StorageError {
        let code = sqlite3_extended_errcode(handle)
        // SQLITE_IOERR_SHORT_READ: a file that ends too early is no failed call, so the number is of an earlier one.
        let system = code == SQLITE_IOERR | 2 << 8 ? 0 : sqlite3_system_errno(handle)
        var text = sqlite3_errstr(code).map { String(cString: $0) } ?? "error"
        if system != 0, [SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_FULL].contains(code & 0xff) {
            text += ": \(StorageError.text(of: system))"
        }
        let (kind, hint) = StorageError.meaning(of: code, system)
        return StorageError(kind, "cannot \(verb) the database '\(path)': \(text) (\(code))", hint: hint)
    }

    /// An error about stored data.
    func damaged(_ what: String) -> StorageError {
        StorageError(
            .corrupt, "the database '\(path)' is damaged: \(what)",
            hint: "restore it from a backup, or rescue what is readable with: sqlite3 FILE .recover")
    }
}

extension StorageError {
    /// A failed system call.
    static func system(_ code: Int32, _ what: String) -> StorageError {
        let (kind, hint) = meaning(ofSystem: code)
        return StorageError(kind, "cannot \(what): \(StorageError.text(of: code))", hint: hint)
    }

    /// A failed system call on the database's folder: the options choose that folder.
    static func system(_ error: StorageError) -> StorageError {
        guard let number = error.systemError else { return error }
        let (kind, hint) = meaning(ofSystem: number)
        if case .distrust = error.cause { return StorageError(kind, error.message, hint: error.hint) }
        return StorageError(kind, error.message, hint: hint)
    }

    fileprivate static func meaning(of code: Int32, _ system: Int32) -> (Code, String) {
        switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED: (.busy, "another process is using it; try again")
        case SQLITE_FULL: (.noSpace, "free some space, or move the database to another disk")
        case SQLITE_CORRUPT:
            (.corrupt, "restore it from a backup, or rescue what is readable with: sqlite3 FILE .recover")
        case SQLITE_NOTADB:
            (.corrupt, "move it away with its '-wal' and '-shm' files, and restore its values from a backup")
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
            (.permissionDenied, "check the owner and the mode of the database and of its folder")
        case SQLITE_TOOBIG: (.valueTooLarge, "map the domain to a store for large values")
        case SQLITE_CANTOPEN where system == 0: (.storeUnavailable, "choose another 'path'")
        case SQLITE_IOERR, SQLITE_CANTOPEN: meaning(ofSystem: system)
        default: (.unknown, "")
        }
    }

    private static func meaning(ofSystem code: Int32) -> (Code, String) {
        switch code {
        case ENOSPC, EDQUOT: (.noSpace, "free some space, or move the database to another disk")
        case EACCES, EPERM: (.permissionDenied, "check the owner and the mode of the path and of the folders above it")
        case EROFS: (.permissionDenied, "move the database to a writable disk")
        case EMFILE, ENFILE: (.fileError, "raise the limit of open files (ulimit -n)")
        case ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG: (.storeUnavailable, "choose another 'path'")
        default: (.fileError, "check the disk, then try again")
        }
    }
}
