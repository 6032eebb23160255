import Glibc
public import LocalDataPluginAPI

/// The lock of a whole open file for writing: see fcntl(2).
public enum OpenFileLock {
    /// `F_OFD_GETLK` and `F_OFD_SETLK`, since Linux 3.15, which Swift does not import.
    private static let getLock: Int32 = 36
    private static let setLock: Int32 = 37

    /// Takes it; `false` if that fails, with the reason in `errno`: `EAGAIN` or `EACCES` if another one has a lock of
    /// the file. Never waits.
    public static func take(_ file: Int32) -> Bool {
        var lock = wholeFile(F_WRLCK)
        return fcntl(file, setLock, &lock) == 0
    }

    /// Whether nobody else has a lock of the file; `nil` if that is unknown, with the reason in `errno`.
    static func isFree(_ file: Int32) -> Bool? {
        var lock = wholeFile(F_WRLCK)
        return fcntl(file, getLock, &lock) == 0 ? lock.l_type == Int16(F_UNLCK) : nil
    }

    /// Gives it up, and that of all duplicates.
    public static func letGo(_ file: Int32) {
        var lock = wholeFile(F_UNLCK)
        _ = fcntl(file, setLock, &lock)
    }

    /// Checks that a new file, which nobody else knows, can be locked.
    ///
    /// - Parameter folder: For the message.
    /// - Throws: `storeUnavailable` if its file system has no locks.
    public static func check(_ file: Int32, in folder: @autoclosure () -> String) throws(StorageError) {
        guard !take(file) else { return letGo(file) }
        let code = errno
        throw StorageError(
            .storeUnavailable,
            "the file system of '\(folder())' has no locks (\(String(cString: strerror(code)))), so several programs "
                + "could not share a database there",
            hint: "use a folder on another file system, or start its lock service")
    }

    private static func wholeFile(_ type: Int32) -> flock {
        var lock = flock()
        lock.l_type = Int16(type)
        lock.l_whence = Int16(SEEK_SET)
        return lock
    }
}
