internal import DurableFiles
internal import Glibc
package import LocalDataAPI

/// A lock that processes and threads share by the path of a file; see flock(2).
///
/// Each use opens the file anew, so two uses in one process exclude each other as two processes do; a use inside
/// another's body of the same lock waits for ever. The system frees the lock when the process ends, however it ends. The
/// lock is advisory and waits in the system, without a limit: for locks that are held for a short while, on threads that
/// may wait.
package struct FileLock: Sendable {
    /// The file that stands for the lock: made when it is first used, with mode 0600, in folders of mode 0700. It is
    /// not removed; should someone else remove it, the lock stays one among all who come later.
    package let path: String

    /// Whether who waits to hold it exclusively is not overtaken by those who come later to share it.
    private let isFair: Bool

    /// The lock of a path; a relative one is taken from the current folder. Touches nothing.
    ///
    /// - Parameter isFair: The system prefers nobody, so many who share a lock one after the other can keep out for ever
    ///   who wants it alone. With `true` all come in one by one through a second lock, of the file `PATH.turn`; then
    ///   sharing the lock inside the body of a shared use waits for ever, too, if someone waits between them.
    package init(_ path: String, isFair: Bool = false) {
        self.path = path
        self.isFair = isFair
    }

    /// Runs body while others may hold it shared, and nobody exclusively. May wait.
    ///
    /// A file that is there need not be writable.
    ///
    /// - Throws: `permissionDenied`, `noSpace` or `fileError` with the path; what body throws.
    package func shared<Result>(
        _ body: (borrowing LockedFile) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let file = try locked(exclusively: false)
        return try body(file)
    }

    /// Runs body while nobody else holds it. May wait.
    ///
    /// - Throws: `permissionDenied`, `noSpace` or `fileError` with the path; what body throws.
    package func exclusive<Result>(
        _ body: (borrowing LockedFile) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let file = try locked(exclusively: true)
        return try body(file)
    }

    /// Holds the lock exclusively until what is returned is given up. May wait.
    ///
    /// - Throws: `permissionDenied`, `noSpace` or `fileError` with the path.
    package func hold() throws(StorageError) -> LockedFile { try locked(exclusively: true) }

    private func locked(exclusively: Bool) throws(StorageError) -> LockedFile {
        guard isFair else { return try lockedAtLast(exclusively: exclusively) }
        let turn = FileLock("\(path).turn")
        // Where nothing can be written, nobody waits to hold the lock exclusively.
        let mine = exclusively ? try turn.lockedAtLast(exclusively: true) : try? turn.lockedAtLast(exclusively: true)
        let file = try lockedAtLast(exclusively: exclusively)
        _ = consume mine
        return file
    }

    private func lockedAtLast(exclusively: Bool) throws(StorageError) -> LockedFile {
        while true {
            let descriptor = try opened(forWriting: exclusively)
            while flock(descriptor.raw, exclusively ? LOCK_EX : LOCK_SH) != 0 {
                let code = errno
                if code != EINTR { throw failure(code, "lock") }
            }
            // Someone may have removed the file before it was locked: then others lock another one.
            var here = stat()
            guard fstat(descriptor.raw, &here) == 0 else { throw failure(errno, "inspect") }
            guard here.st_mode & S_IFMT == S_IFREG else {
                throw StorageError(
                    .fileError, "'\(path)' is not a regular file, and cannot stand for a lock", hint: "move it away")
            }
            var there = stat()
            if lstat(path, &there) == 0, there.st_ino == here.st_ino, there.st_dev == here.st_dev {
                return LockedFile(descriptor, path: path, isExclusive: exclusively)
            }
        }
    }

    private func opened(forWriting: Bool) throws(StorageError) -> OwnedDescriptor {
        for attempt in 0... {
            let flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW
            if let descriptor = OwnedDescriptor(open(path, O_RDWR | O_CREAT | flags, 0o600)) { return descriptor }
            switch errno {
            case EINTR: continue
            case ENOENT where attempt < Self.attempts: try makeFolder()
            case let code where !forWriting && (code == EACCES || code == EROFS):
                if let descriptor = OwnedDescriptor(open(path, O_RDONLY | flags)) { return descriptor }
                throw failure(code, "open")
            case let code: throw failure(code, "open")
            }
        }
        throw failure(ENOENT, "open")
    }

    private func makeFolder() throws(StorageError) {
        let file = HostFile.absolute(path)
        let slash = file.lastIndex(of: "/") ?? file.startIndex
        do { try DurableDirectory(root: String(file[...slash])).make() } catch { throw StorageError(file: error) }
    }

    private func failure(_ code: Int32, _ call: String) -> StorageError {
        StorageError(file: SystemCallError(code, call, path: path))
    }

    /// How often the folder is made while someone else removes it.
    private static let attempts = 8
}
