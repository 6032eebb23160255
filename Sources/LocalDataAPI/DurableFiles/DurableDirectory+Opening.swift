import CLinux
import Glibc
public import LocalDataPluginAPI
import Synchronization

extension DurableDirectory {
    /// Checks that the path is usable: it leads to a folder, or to nothing yet.
    ///
    /// - Returns: The folder's owner if this process runs as the superuser, the owner is another user, and no group
    ///   shares the folder. Of a missing folder, the owner of the nearest one above it: what is made there is for that
    ///   user, who could not use it. A root that is made for its owner only is so below a group's folder, too.
    /// - Throws: `StorageError`, with `ENOTDIR` if something else is in the way.
    public func foreignOwner() throws(StorageError) -> UInt32? {
        let folder = try folderPath.open()
        guard geteuid() == 0 else { return nil }
        var status = stat()
        var isPrivate = false
        if let folder {
            guard fstat(folder.number, &status) == 0 else { throw StorageError(system: errno, "inspect", path: path) }
        } else {
            isPrivate = folderPath.isRootPrivate
            var names = path.split(separator: "/")
            repeat {
                _ = names.popLast()
            } while stat("/" + names.joined(separator: "/"), &status) != 0 && !names.isEmpty
        }
        let isShared = !isPrivate && FolderMaker.isOfGroup(status.st_mode)
        return status.st_uid == 0 || isShared ? nil : status.st_uid
    }

    /// The most bytes that a name in this folder can have, at most 255; of a missing folder, in the nearest one above
    /// it. eCryptfs has room for 143.
    public var longestName: Int {
        get throws(StorageError) {
            let known = nameLimit.load(ordering: .relaxed)
            if known > 0 { return known }
            if let folder = try descriptorForReading() {
                let longest = FolderPath.longestName(in: folder)
                nameLimit.store(longest, ordering: .relaxed)
                return longest
            }
            var names = path.split(separator: "/")
            while names.popLast() != nil {
                let longest = pathconf("/" + names.joined(separator: "/"), Int32(_PC_NAME_MAX))
                if longest > 0 { return min(longest, FolderPath.longestName) }
            }
            return FolderPath.longestName
        }
    }

    /// Creates the folder and every missing one above it, durably, as a change does.
    ///
    /// - Throws: `StorageError`.
    public func make() throws(StorageError) { _ = try folderForWriting() }

    /// The folder, ready for a change: open, current, and durable from the root's parent down to itself.
    struct Writable: Sendable {
        let descriptor: Int32
        /// Whether the folder is shared by a group.
        let isShared: Bool
        let group: gid_t
        let device: dev_t
        let inode: ino_t
    }

    /// Whether the file system keeps extended attributes of files in this folder. Creates the folder if it is missing.
    public func keepsAttributes(named name: CString) throws(StorageError) -> Bool {
        let folder = try folderForWriting().descriptor
        guard ld_linux_get_attribute(folder, name.start, nil, 0) < 0 else { return true }
        return errno == ENODATA
    }

    /// The open folder, or `nil` if absent. Takes no lock, and makes no system call once the folder is open.
    func descriptorForReading() throws(StorageError) -> Int32? {
        let opened = descriptor.load(ordering: .acquiring)
        if opened >= 0 { return opened }
        guard let folder = try folderPath.open() else { return nil }
        return adopt(folder)
    }

    /// The open folder for a change, created if it is missing.
    func folderForWriting() throws(StorageError) -> Writable {
        var opened = descriptor.load(ordering: .acquiring)
        if opened < 0 {
            opened = adopt(try openMaking())
        } else if try isStale(opened) {
            replace(opened, by: try openMaking())
        }
        if !isChainDurable.load(ordering: .acquiring) {
            try synchronizeChain(opened)
            isChainDurable.store(true, ordering: .releasing)
        }
        return try writable(opened)
    }

    /// The open folder for a change that creates no folders; `nil` if absent.
    func folderIfThere() throws(StorageError) -> Writable? {
        guard let opened = try descriptorForReading() else { return nil }
        _ = try reopenIfReplaced(opened)
        return try writable(opened)
    }

    private func writable(_ opened: Int32) throws(StorageError) -> Writable {
        var status = stat()
        guard fstat(opened, &status) == 0 else { throw StorageError(system: errno, "inspect", path: path) }
        return Writable(
            descriptor: opened, isShared: staging == .inFolder && FolderMaker.isOfGroup(status.st_mode),
            group: status.st_gid,
            device: status.st_dev, inode: status.st_ino)
    }

    /// Redirects an open descriptor to the folder that now has the path, if its own folder has lost it. Creates
    /// nothing.
    ///
    /// - Returns: Whether there was another folder.
    func reopenIfReplaced(_ opened: Int32) throws(StorageError) -> Bool {
        guard try isStale(opened), let folder = try folderPath.open() else { return false }
        replace(opened, by: folder)
        return true
    }

    /// Whether the path leads to a folder other than the open one, or to none.
    private func isStale(_ opened: Int32) throws(StorageError) -> Bool {
        var here = stat()
        var there = stat()
        guard fstat(opened, &here) == 0 else { throw StorageError(system: errno, "inspect", path: path) }
        guard stat(folderPath.text.start, &there) == 0 else {
            let code = errno
            if code == ENOENT || code == ENOTDIR { return true }
            throw StorageError(system: code, "inspect", path: path)
        }
        return here.st_ino != there.st_ino || here.st_dev != there.st_dev
    }

    private func openMaking() throws(StorageError) -> Descriptor {
        if let folder = try folderPath.open() { return folder }
        return try folderPath.openMaking()
    }

    /// Keeps the first folder that is opened, and closes that of a thread that came second.
    private func adopt(_ folder: consuming Descriptor) -> Int32 {
        let number = folder.release()
        let (isFirst, kept) = descriptor.compareExchange(
            expected: -1, desired: number, ordering: .acquiringAndReleasing)
        if isFirst {
            cleanUp(number)
            return number
        }
        _ = close(number)
        return kept
    }

    private func replace(_ opened: Int32, by folder: consuming Descriptor) {
        // Before the switch, for threads that see the new folder at once; after it, for threads that synchronized the
        // old one meanwhile.
        isChainDurable.store(false, ordering: .releasing)
        while ld_linux_put_in_place(folder.number, opened, O_CLOEXEC) < 0, errno == EINTR || errno == EBUSY {}
        isChainDurable.store(false, ordering: .releasing)
        forgetTemporaryFolder()
        cleanUp(opened)
    }

    /// Synchronizes the folders above this one, outermost first. Uses physical parents: a path with symbolic links has
    /// its entries there.
    private func synchronizeChain(_ opened: Int32) throws(StorageError) {
        for steps in stride(from: responsibility, to: 0, by: -1) {
            let above = Array(repeating: "..", count: steps).joined(separator: "/")
            try FolderMaker.synchronize(above, in: opened, at: "\(path)/\(above)", isOwn: false)
        }
    }
}
