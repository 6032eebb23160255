internal import DurableFiles
internal import Glibc
internal import LocalDataAPI

extension FileLock {
    /// Holds a folder itself exclusively as long as the result lives, so that all who keep values in it share one lock,
    /// whatever their state folders. May wait.
    ///
    /// No file is created that someone else could replace by a link. The folder must belong to this user, to root, or,
    /// with the set-group-ID bit and closed to others, to a group.
    ///
    /// - Returns: `nil` if the folder is not there, so that nothing is kept in it, or if its file system, such as NFS,
    ///   locks no folders.
    /// - Throws: `permissionDenied` or `fileError` with the folder; `busy` with the holder.
    func holdFolder() throws(StorageError) -> LockedFile? {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOCTTY
        guard let descriptor = OwnedDescriptor(open(path, flags)) else {
            if errno == ENOENT { return nil }
            throw StorageError(system: errno, "open the folder", path: path)
        }
        var status = stat()
        guard fstat(descriptor.raw, &status) == 0 else {
            throw StorageError(system: errno, "inspect", path: path)
        }
        let isGroups = status.st_mode & S_ISGID != 0 && status.st_mode & S_IWOTH == 0
        guard status.st_uid == geteuid() || status.st_uid == 0 || isGroups else {
            throw StorageError(
                .permissionDenied,
                "the folder '\(path)' belongs to uid \(status.st_uid), and is not shared by a group",
                hint: "let its owner run: chmod g+rwxs,o-w '\(path)'")
        }
        if flock(descriptor.raw, LOCK_EX | LOCK_NB) != 0 {
            guard ![EBADF, ENOLCK, EOPNOTSUPP, EINVAL].contains(errno) else { return nil }
            try wait(for: descriptor.raw, exclusively: true)
        }
        return LockedFile(descriptor, path: path, isExclusive: true)
    }
}
