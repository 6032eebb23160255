import Glibc

/// Makes folders that are there after a power loss.
enum FolderMaker {
    /// Makes what is missing of an absolute path.
    ///
    /// A folder is made only in one whose own entry is durable: before the first one, the parent of the nearest folder
    /// that exists is synchronized, because whoever made that may have died before doing so; after each one, the folder
    /// that it was made in.
    static func make(_ path: String) throws {
        guard var folder = Descriptor(Descriptor.open("/", in: AT_FDCWD, Descriptor.pathOnly | O_DIRECTORY)) else {
            throw SystemCallError(errno, "open the folder", path: "/")
        }
        var walked = ""
        var isMaking = false
        for bytes in path.utf8.split(separator: UInt8(ascii: "/")) {
            let name = CString(bytes)
            let parent = walked.isEmpty ? "/" : walked
            walked += "/\(name)"
            var next = Descriptor.open(name.start, in: folder.number, Descriptor.pathOnly | O_DIRECTORY)
            if next < 0, errno == ENOENT {
                if !isMaking {
                    try synchronize(above, in: folder.number, at: "\(parent)/..", isOwn: false)
                    isMaking = true
                }
                try make(name, in: folder.number, isShared: isShared(folder.number, at: parent), at: walked)
                try synchronize(itself, in: folder.number, at: parent, isOwn: true)
                next = Descriptor.open(name.start, in: folder.number, Descriptor.pathOnly | O_DIRECTORY)
            }
            guard let found = Descriptor(next) else { throw SystemCallError(errno, "open the folder", path: walked) }
            folder = found
        }
    }

    /// Makes one folder, unless it is there. The mode of a shared one is forced against the umask.
    static func make(_ name: CString, in folder: Int32, isShared: Bool, at path: @autoclosure () -> String) throws {
        guard mkdirat(folder, name.start, isShared ? 0o770 : 0o700) == 0 else {
            let code = errno
            if code == EEXIST { return }
            throw SystemCallError(code, "create the folder", path: path())
        }
        guard isShared else { return }
        guard let made = Descriptor(Descriptor.open(name.start, in: folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)),
            fchmod(made.number, 0o2770) == 0
        else { throw SystemCallError(errno, "set the mode of the folder", path: path()) }
    }

    /// Makes the entries of a folder durable.
    ///
    /// Folders of others (`isOwn: false`) may be closed to this process, or on a medium that cannot be written: then
    /// nothing was made there. `EINVAL` comes from file systems that have no such operation for folders.
    static func synchronize(
        _ name: CString, in folder: Int32, at path: @autoclosure () -> String, isOwn: Bool
    ) throws {
        guard let opened = Descriptor(Descriptor.open(name.start, in: folder, O_RDONLY | O_DIRECTORY)) else {
            let code = errno
            if !isOwn, code == EACCES || code == EPERM { return }
            throw SystemCallError(code, "open the folder", path: path())
        }
        guard Descriptor.synchronize(opened.number) != 0 else { return }
        let code = errno
        if code == EINVAL || (!isOwn && code == EROFS) { return }
        throw SystemCallError(code, "synchronize the folder", path: path())
    }

    private static func isShared(_ folder: Int32, at path: String) throws -> Bool {
        var status = stat()
        guard fstat(folder, &status) == 0 else { throw SystemCallError(errno, "inspect", path: path) }
        return status.st_mode & S_ISGID != 0
    }

    private static let above = CString("..".utf8)
    private static let itself = CString(".".utf8)
}
