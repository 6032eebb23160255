import CLinux
import Glibc
import LocalDataPluginAPI
import Synchronization

extension DurableDirectory {
    /// The open folder for temporary files, created if it is missing. Makes no system call once it is open.
    ///
    /// - Throws: `StorageError`, with `EPERM` if someone else could change the files in it.
    func temporaryFolder(_ folder: Writable) throws(StorageError) -> Int32 {
        if staging == .besideFile { return folder.descriptor }
        let opened = temporary.load(ordering: .acquiring)
        if opened >= 0, isTemporaryCurrent.load(ordering: .acquiring) { return opened }
        for _ in 0..<Self.attempts {
            if let found = try openTemporaryFolder(folder) { return adoptTemporary(found) }
            try FolderMaker.make(
                TemporaryFile.folder, in: folder.descriptor, isShared: folder.isShared, at: temporaryPath)
        }
        throw StorageError(system: ENOENT, "open the folder", path: temporaryPath)
    }

    /// The open folder for temporary files, if it exists.
    func temporaryFolderIfThere(_ folder: Writable) throws(StorageError) -> Int32? {
        let opened = temporary.load(ordering: .acquiring)
        if opened >= 0, isTemporaryCurrent.load(ordering: .acquiring) { return opened }
        guard let found = try openTemporaryFolder(folder) else { return nil }
        return adoptTemporary(found)
    }

    /// Marks the folder to be reopened at its next use: it was deleted, or belongs to a folder that was.
    func forgetTemporaryFolder() { isTemporaryCurrent.store(false, ordering: .releasing) }

    private var temporaryPath: String { "\(path)/\(TemporaryFile.folder)" }

    private func openTemporaryFolder(_ folder: Writable) throws(StorageError) -> Descriptor? {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
        guard let opened = Descriptor(Descriptor.open(TemporaryFile.folder.start, in: folder.descriptor, flags)) else {
            switch errno {
            case ENOENT: return nil
            case ELOOP, ENOTDIR:
                throw StorageError(system: ENOTDIR, "write to", path: temporaryPath, detail: "it is not a folder")
            case let code: throw StorageError(system: code, "open the folder", path: temporaryPath)
            }
        }
        var status = stat()
        guard fstat(opened.number, &status) == 0 else {
            throw StorageError(system: errno, "inspect", path: temporaryPath)
        }
        if let problem = Self.problem(status, folder, as: .usual),
            folder.isShared
                || Self.problem(status, folder, as: FileSystemUser(probing: folder.descriptor)) != nil
        {
            throw StorageError(system: EPERM, "write to", path: temporaryPath, detail: problem)
        }
        return opened
    }

    /// Why a folder cannot be used for temporary files; it must belong to this user alone, or to the group.
    private static func problem(_ status: stat, _ folder: Writable, as user: FileSystemUser) -> String? {
        let isGroups = folder.isShared && FolderMaker.isOfGroup(status.st_mode) && status.st_gid == folder.group
        if isGroups && status.st_mode & S_IWOTH == 0 { return nil }
        guard status.st_uid == user.number else {
            return "the folder belongs to user \(status.st_uid), and this is user \(geteuid())"
        }
        return user.isClosed(status) ? nil : "other users may write to the folder"
    }

    /// Keeps the folder. The number stays the same, as threads are using it in calls.
    private func adoptTemporary(_ found: consuming Descriptor) -> Int32 {
        var opened = temporary.load(ordering: .acquiring)
        if opened < 0 {
            let number = found.release()
            let (isFirst, kept) = temporary.compareExchange(
                expected: -1, desired: number, ordering: .acquiringAndReleasing)
            if !isFirst { _ = close(number) }
            opened = kept >= 0 ? kept : number
        } else {
            while ld_linux_put_in_place(found.number, opened, O_CLOEXEC) < 0, errno == EINTR || errno == EBUSY {}
        }
        isTemporaryCurrent.store(true, ordering: .releasing)
        return opened
    }

    private static let attempts = 8
}
