import Glibc
import LocalDataAPI

/// Creates folders that survive a power loss.
enum FolderMaker {
    /// Creates one folder unless it exists. A shared folder gets its mode whatever the umask.
    static func make(_ name: CString, in folder: Int32, isShared: Bool, at path: @autoclosure () -> String)
        throws(StorageError)
    {
        guard mkdirat(folder, name.start, isShared ? 0o770 : 0o700) == 0 else {
            let code = errno
            if code == EEXIST { return }
            throw StorageError(system: code, "create the folder", path: path())
        }
        guard isShared else { return }
        guard let made = Descriptor(Descriptor.open(name.start, in: folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)),
            fchmod(made.number, 0o2770) == 0
        else { throw StorageError(system: errno, "set the mode of the folder", path: path()) }
    }

    /// Makes the entries of a folder durable. Follows no symbolic link.
    ///
    /// Folders of others (`isOwn: false`) may be closed to this process, or on a read-only medium: then nothing was
    /// created there. `EINVAL` comes from file systems that cannot synchronize folders.
    static func synchronize(
        _ name: UnsafePointer<CChar>, in folder: Int32, at path: @autoclosure () -> String, isOwn: Bool
    ) throws(StorageError) {
        let flags = O_RDONLY | O_DIRECTORY
        // A folder that is not its own is one above the root.
        let found = isOwn ? Descriptor.openBelow(name, in: folder, flags) : Descriptor.open(name, in: folder, flags)
        guard let opened = Descriptor(found) else {
            let code = errno
            if !isOwn, code == EACCES || code == EPERM { return }
            throw StorageError(system: code, "open the folder", path: path())
        }
        guard Descriptor.synchronize(opened.number) != 0 else { return }
        let code = errno
        if code == EINVAL || (!isOwn && code == EROFS) { return }
        throw StorageError(system: code, "synchronize the folder", path: path())
    }
}
