import Glibc
import LocalDataPluginAPI

/// The lock of a root's batches, held while a process commits or completes one. It ends when this value goes out of
/// scope or the process ends in any way. See flock(2).
struct BatchLock: ~Copyable {
    private let descriptor: Descriptor
    private let path: String

    /// Waits until nobody else holds the lock.
    ///
    /// - Throws: `StorageError` with `ETIMEDOUT` and the lock's holder if that takes longer than `patience`.
    init(in directory: DurableDirectory, patience: Duration) throws(StorageError) {
        let start = ContinuousClock.now
        let deadline = start + patience
        var pause = LockPause(from: 100, to: 20_000)
        while true {
            let folder = try directory.folderForWriting()
            let opened = Descriptor.open(
                Self.name.start, in: folder.descriptor, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
            guard let file = Descriptor(opened) else {
                let code = errno
                // The folder was removed.
                if code == ENOENT, ContinuousClock.now < deadline { continue }
                // Another user has just created the file, and not opened it to the group yet.
                if code == EACCES, folder.isShared, ContinuousClock.now < start + Self.opening {
                    pause.take()
                    continue
                }
                throw directory.failure(code, "open", Self.name)
            }
            if folder.isShared { try Self.share(file.number, directory) }
            try Self.lock(file.number, directory, until: deadline)
            // Someone may have removed the file before it was locked; then others lock a new file.
            var here = stat()
            var there = stat()
            if fstat(file.number, &here) == 0,
                fstatat(folder.descriptor, Self.name.start, &there, AT_SYMLINK_NOFOLLOW) == 0,
                here.st_ino == there.st_ino, here.st_dev == there.st_dev
            {
                descriptor = file
                path = FileLocation(directory: directory, name: Self.name).description
                return
            }
        }
    }

    private static let opening: Duration = .milliseconds(200)

    /// Closing is not enough: a child process that is starting shares the open file until it runs its program.
    deinit { _ = flock(descriptor.number, LOCK_UN) }

    private static func lock(_ file: Int32, _ directory: DurableDirectory, until deadline: ContinuousClock.Instant)
        throws(StorageError)
    {
        var pause = LockPause(from: 100, to: 20_000)
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            guard code == EWOULDBLOCK else { throw directory.failure(code, "lock", name) }
            guard ContinuousClock.now < deadline else {
                let holder = LockHolder(of: file).map { "\($0)" } ?? "another process"
                let path = FileLocation(directory: directory, name: name).description
                throw StorageError(system: ETIMEDOUT, "lock", path: path, detail: "\(holder) holds the lock")
            }
            pause.take()
        }
    }

    /// Announces that files are about to be compared and changed. A process that changes one of them without the lock
    /// then notices that a batch intervened; see ``BatchTurn``.
    ///
    /// - Throws: `StorageError`.
    func announce() throws(StorageError) { try count { ($0 + 1) | 1 } }

    /// Announces the end of the batch. If that fails, the next change does it.
    func conclude() { try? count { $0 % 2 == 0 ? $0 : $0 + 1 } }

    private func count(_ next: (off_t) -> off_t) throws(StorageError) {
        var status = stat()
        guard fstat(descriptor.number, &status) == 0 else { throw StorageError(system: errno, "inspect", path: path) }
        let size = next(status.st_size) % BatchTurn.most
        guard size != status.st_size else { return }
        while ftruncate(descriptor.number, size) != 0 {
            let code = errno
            if code != EINTR { throw StorageError(system: code, "set the size of", path: path) }
        }
    }

    /// Gives the file to the group, if the caller owns it and it has another group. A file with a second name may be
    /// meant for nobody else.
    private static func share(_ file: Int32, _ directory: DurableDirectory) throws(StorageError) {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw directory.failure(errno, "inspect", name) }
        guard status.st_uid == geteuid(), status.st_mode & 0o060 != 0o060, status.st_nlink == 1, status.st_size == 0
        else { return }
        guard fchmod(file, 0o660) == 0 else { throw directory.failure(errno, "set the mode of", name) }
    }

    static let name = CString("lock".utf8)
}

/// Counts the batches of a root that have begun and ended. If the count is the same before and after a single change,
/// no batch compared the old file and then replaced the new one.
///
/// The count is the size of the lock file. It is odd while a batch is running or was abandoned. The file has no
/// content.
struct BatchTurn: Equatable {
    private let identity: FileIdentity?
    private let size: off_t

    init(_ path: CString) {
        var status = stat()
        let isThere = lstat(path.start, &status) == 0
        identity = isThere ? FileIdentity(status) : nil
        size = isThere ? status.st_size : 0
    }

    var isUnderWay: Bool { size % 2 == 1 }

    /// Where the count wraps; below every limit on a file's size.
    static let most: off_t = 4096
}
