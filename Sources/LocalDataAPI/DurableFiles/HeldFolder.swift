import Glibc

/// A folder that others may write to, or that lies below such a folder. It is held open, so that changes of its path
/// have no effect.
package final class HeldFolder: Sendable {
    /// The open folder's number, valid while this object lives.
    package let number: Int32
    private let path: FolderPath

    /// Opens a folder by its absolute path; `nil` if it is missing, or if only this user and the superuser can change
    /// where the path leads.
    ///
    /// - Throws: `SystemCallError` with `ELOOP` for a symbolic link that others could have put there.
    package init?(_ path: String) throws {
        self.path = try DurableDirectory(root: path).folderPath
        guard let reached = try self.path.reach(), reached.isOnSharedGround else { return nil }
        number = reached.takeFolder().release()
    }

    deinit { _ = close(number) }

    /// Whether the path leads to this folder.
    package var isCurrent: Bool {
        var here = stat()
        var there = stat()
        return fstat(number, &here) == 0 && stat(path.text.start, &there) == 0 && here.st_ino == there.st_ino
            && here.st_dev == there.st_dev
    }

    /// Why a file here must not be changed in place; `nil` if it may be, or does not exist. A file with a second name
    /// may be one that this user does not mean to share.
    package func problem(ofFile name: String) -> String? {
        var status = stat()
        guard fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        let kind = FileKind(mode: status.st_mode)
        if kind != .regular { return "it is \(kind.rawValue)" }
        return status.st_nlink == 1 ? nil : "it has another name elsewhere (a hard link)"
    }
}
