import Glibc
import LocalDataPluginAPI

/// Creates folders that survive a power loss.
public enum FolderMaker {
    /// Whether a folder with this mode is shared by the members of its group: they may change what is in it, and what
    /// is made there is the group's. The set-group-ID bit alone does not say so: homes and projects have it, too.
    public static func isOfGroup(_ mode: UInt32) -> Bool {
        mode & (S_ISGID | S_IWGRP) == S_ISGID | S_IWGRP
    }

    /// Creates one folder unless it exists, with its mode whatever the umask.
    static func make(_ name: CString, in folder: Int32, isShared: Bool, at path: @autoclosure () -> String)
        throws(StorageError)
    {
        guard mkdirat(folder, name.start, isShared ? 0o770 : 0o700) == 0 else {
            let code = errno
            if code == EEXIST { return }
            throw StorageError(system: code, "create the folder", path: path())
        }
        if isShared { return try setMode(0o2770, of: name, in: folder, at: path()) }
        // Under a umask such as 0177 it is one that its own user cannot enter, nor open to change that.
        var made = stat()
        guard fstatat(folder, name.start, &made, AT_SYMLINK_NOFOLLOW) == 0, made.st_mode & 0o700 != 0o700 else {
            return
        }
        guard fchmodat(folder, name.start, 0o700, 0) == 0 else {
            let code = errno
            unlinkat(folder, name.start, AT_REMOVEDIR)
            throw StorageError(
                system: code, "set the mode of the folder", path: path(),
                detail: "the umask takes rights to new folders from their own user, and the file system forbids to "
                    + "give them back")
        }
    }

    /// Takes a new folder from the group of the one above it.
    static func close(_ name: CString, in folder: Int32, at path: @autoclosure () -> String) throws(StorageError) {
        try setMode(0o700, of: name, in: folder, at: path())
    }

    private static func setMode(
        _ mode: mode_t, of name: CString, in folder: Int32, at path: @autoclosure () -> String
    ) throws(StorageError) {
        let code: Int32
        if let made = Descriptor(Descriptor.open(name.start, in: folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)) {
            if fchmod(made.number, mode) == 0 { return }
            code = errno
            var status = stat()
            // Where no mode can be changed: the set-group-ID bit alone opens nothing to the group.
            if code == EPERM, fstat(made.number, &status) == 0, status.st_mode & 0o777 == mode, mode == 0o700 { return }
        } else {
            code = errno
        }
        unlinkat(folder, name.start, AT_REMOVEDIR)
        throw StorageError(system: code, "set the mode of the folder", path: path())
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
