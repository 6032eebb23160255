import Glibc
public import LocalDataPluginAPI

/// A file of a ``DurableDirectory`` that one owner holds, until this value goes out of scope or the process ends in any
/// way.
///
/// The hold is a lock of the open file (`F_OFD_SETLK`, see fcntl(2)): two holders in one process exclude each other as
/// two processes do. It is advisory: it excludes only those who ask for it too.
public struct HeldFile: ~Copyable, Sendable {
    /// The file, open for reading unless its holder created it.
    public let file: OpenFile

    init(_ file: consuming OpenFile) { self.file = file }

    /// Closing is not enough: a child process that is starting shares the open file until it runs its program.
    deinit { file.letGo() }
}

extension OpenFile {
    /// Whether someone else holds the file. Only queries, and blocks nobody.
    func isHeldElsewhere() throws(StorageError) -> Bool {
        guard let isFree = OpenFileLock.isFree(descriptor.number) else { throw failure(errno, "ask for the lock of") }
        return !isFree
    }

    /// Tries to hold the file, which must be open for writing; `false` if someone else holds it. Never waits.
    func hold() throws(StorageError) -> Bool {
        if OpenFileLock.take(descriptor.number) { return true }
        let code = errno
        if code == EAGAIN || code == EACCES { return false }
        throw failure(code, "lock")
    }

    /// Ends the hold, including that of all duplicates.
    fileprivate func letGo() { OpenFileLock.letGo(descriptor.number) }

    /// Duplicates the open file, with the same lock.
    func duplicate() throws(StorageError) -> OpenFile {
        guard let descriptor = Descriptor(fcntl(descriptor.number, F_DUPFD_CLOEXEC, 0)) else {
            throw failure(errno, "open")
        }
        return OpenFile(descriptor, at: location)
    }
}

/// A folder that others may write to, or that lies below such a folder. It is held open, so that changes of its path
/// have no effect.
public final class HeldFolder: Sendable {
    /// The open folder's number, valid while this object lives.
    public let number: Int32
    private let path: FolderPath

    /// Opens a folder by its absolute path; `nil` if it is missing, or if only this user and the superuser can change
    /// where the path leads.
    ///
    /// - Throws: `StorageError` with `ELOOP` for a symbolic link that others could have put there.
    public init?(_ path: String) throws(StorageError) {
        self.path = try DurableDirectory(root: path).folderPath
        guard let reached = try self.path.reach(), reached.isOnSharedGround else { return nil }
        number = reached.takeFolder().release()
    }

    deinit { _ = close(number) }

    /// Whether the path leads to this folder.
    public var isCurrent: Bool {
        var here = stat()
        var there = stat()
        return fstat(number, &here) == 0 && stat(path.text.start, &there) == 0 && here.st_ino == there.st_ino
            && here.st_dev == there.st_dev
    }

    /// Why a file here must not be changed in place; `nil` if it may be, or does not exist. A file with a second name
    /// may be one that this user does not mean to share.
    public func problem(ofFile name: String) -> String? {
        var status = stat()
        guard fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        let kind = FileKind(mode: status.st_mode)
        if kind != .regular { return "it is \(kind.rawValue)" }
        return status.st_nlink == 1 ? nil : "it has another name elsewhere (a hard link)"
    }
}
