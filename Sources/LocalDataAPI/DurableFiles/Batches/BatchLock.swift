import Glibc

/// The lock of a root's batches, held by whoever commits one or completes one; until this goes out of scope or the
/// process ends, however it ends. See flock(2). Waits for those that hold it.
struct BatchLock: ~Copyable {
    private let descriptor: Descriptor

    /// Waits until nobody else holds the lock.
    ///
    /// - Throws: `SystemCallError`.
    init(in directory: DurableDirectory) throws {
        while true {
            let folder = try directory.folderForWriting()
            let opened = Descriptor.open(
                Self.name.start, in: folder.descriptor, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
            guard let file = Descriptor(opened) else {
                let code = errno
                // The folder was removed.
                if code == ENOENT { continue }
                throw directory.failure(code, "open", Self.name)
            }
            if folder.isShared { try Self.share(file.number, directory) }
            while flock(file.number, LOCK_EX) != 0 {
                let code = errno
                if code != EINTR { throw directory.failure(code, "lock", Self.name) }
            }
            // Someone may have removed the file before it was locked: then others lock another one.
            var here = stat()
            var there = stat()
            if fstat(file.number, &here) == 0,
                fstatat(folder.descriptor, Self.name.start, &there, AT_SYMLINK_NOFOLLOW) == 0,
                here.st_ino == there.st_ino, here.st_dev == there.st_dev
            {
                descriptor = file
                return
            }
        }
    }

    /// Closing alone would not do: a child process that is being started has the open file too, until it runs its
    /// program.
    deinit { _ = flock(descriptor.number, LOCK_UN) }

    /// Gives the file to the group, if it is the caller's own and does not belong to it yet.
    private static func share(_ file: Int32, _ directory: DurableDirectory) throws {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw directory.failure(errno, "inspect", name) }
        guard status.st_uid == geteuid(), status.st_mode & 0o060 != 0o060 else { return }
        guard fchmod(file, 0o660) == 0 else { throw directory.failure(errno, "set the mode of", name) }
    }

    private static let name = CString("lock".utf8)
}
