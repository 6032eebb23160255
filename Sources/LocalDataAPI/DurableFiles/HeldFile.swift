import Glibc

/// A file of a ``DurableDirectory`` that is held by one owner: until this goes out of scope or the process ends,
/// however it ends.
///
/// The hold is a lock of the open file (`F_OFD_SETLK`, see fcntl(2)): two holders in one process exclude each other as
/// two processes do. It is advisory: only who asks for it as well is kept away.
package struct HeldFile: ~Copyable, Sendable {
    /// The file, open for reading unless it was made by its holder.
    package let file: OpenFile

    init(_ file: consuming OpenFile) { self.file = file }

    /// Closing alone would not do: a child process that is being started has the open file too, until it runs its
    /// program.
    deinit { file.letGo() }
}

extension OpenFile {
    /// Whether somebody else holds the file. Asks only, and is in nobody's way.
    func isHeldElsewhere() throws -> Bool {
        var lock = Self.wholeFile(F_WRLCK)
        guard fcntl(descriptor.number, Self.getLock, &lock) == 0 else { throw failure(errno, "ask for the lock of") }
        return lock.l_type != Int16(F_UNLCK)
    }

    /// Tries to hold the file, which is open for writing; `false` if somebody else does. Never waits.
    func hold() throws -> Bool {
        var lock = Self.wholeFile(F_WRLCK)
        if fcntl(descriptor.number, Self.setLock, &lock) == 0 { return true }
        let code = errno
        if code == EAGAIN || code == EACCES { return false }
        throw failure(code, "lock")
    }

    /// Ends the hold, of all duplicates too.
    fileprivate func letGo() {
        var lock = Self.wholeFile(F_UNLCK)
        _ = fcntl(descriptor.number, Self.setLock, &lock)
    }

    /// The same open file once more, with the same lock.
    func duplicate() throws -> OpenFile {
        guard let descriptor = Descriptor(fcntl(descriptor.number, F_DUPFD_CLOEXEC, 0)) else {
            throw failure(errno, "open")
        }
        return OpenFile(descriptor, at: location)
    }

    private static func wholeFile(_ type: Int32) -> flock {
        var lock = flock()
        lock.l_type = Int16(type)
        lock.l_whence = Int16(SEEK_SET)
        return lock
    }

    /// `F_OFD_GETLK` and `F_OFD_SETLK` of fcntl(2), since Linux 3.15, which Swift does not show.
    private static let getLock: Int32 = 36
    private static let setLock: Int32 = 37
}
