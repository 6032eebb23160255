import Glibc
public import LocalDataPluginAPI
import Synchronization

extension DurableDirectory {
    /// Passes the entries of this folder, or of one below it, to `body` in no order until it returns `false`: names as
    /// bytes, without those that start with `.`. A missing folder has no entries.
    ///
    /// An entry that exists throughout the call is passed once, even if its file is replaced, on file systems that
    /// rename in place (ext4, XFS, F2FS); others, such as Btrfs, may pass it twice or not at all.
    public func forEachEntry(
        in path: RelativePath? = nil, _ body: (_ name: [UInt8], _ kind: FileKind) throws -> Bool
    ) throws {
        guard let folder = try descriptorForReading() else { return }
        _ = try reopenIfReplaced(folder)
        let name = path?.text ?? Self.itself
        // A separate descriptor, because the position in a folder belongs to the open file.
        guard let opened = Descriptor(Descriptor.openBelow(name.start, in: folder, O_RDONLY | O_DIRECTORY)) else {
            let code = errno
            if code == ENOENT { return }
            throw failure(code, "open the folder", name)
        }
        guard let entries = EntryList(opened) else { throw failure(errno, "list", name) }
        while let entry = try entries.next({ failure($0, "list", name) }) {
            guard try body(entry.name, entry.kind) else { return }
        }
    }

    /// The status of this folder, or of one below it, if every change of its entries changes that status. `nil` if the
    /// folder is absent, if it changed so recently that the next change may leave the same status, or if its file
    /// system is not known to keep such times.
    public func tellingStatus(of path: RelativePath? = nil) throws(StorageError) -> FileStatus? {
        guard let folder = try descriptorForReading() else { return nil }
        _ = try reopenIfReplaced(folder)
        guard FileSystemKind(of: folder) != .other else { return nil }
        let name = path?.text ?? Self.itself
        var found = stat()
        guard fstatat(folder, name.start, &found, AT_SYMLINK_NOFOLLOW) == 0 else {
            let code = errno
            if code == ENOENT { return nil }
            throw failure(code, "inspect", name)
        }
        let status = FileStatus(found)
        return status.isRecent ? nil : status
    }

    /// Whether there is a folder at a path.
    public func hasFolder(_ path: RelativePath) -> Bool {
        guard let folder = try? descriptorForReading() else { return false }
        var found = stat()
        return fstatat(folder, path.text.start, &found, AT_SYMLINK_NOFOLLOW) == 0 && found.st_mode & S_IFMT == S_IFDIR
    }

    /// Removes temporary files of dead owners, and makes that durable.
    ///
    /// - Throws: `StorageError`.
    public func removeAbandoned() throws(StorageError) {
        guard let folder = try descriptorForReading() else { return }
        cleanUp(folder)
        try synchronizeSelf(folder)
    }

    /// Skips the cleaning when the folder is opened, because this process has already done it.
    public func skipCleaning() { isToBeCleaned.store(false, ordering: .relaxed) }

    /// Removes temporary files of dead owners and staged files of dead batches. Leaves what it cannot remove; at most
    /// 1,000 files per call.
    func cleanUp(_ folder: Int32) {
        guard staging == .inFolder, isToBeCleaned.load(ordering: .relaxed) else { return }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
        guard let opened = Descriptor(Descriptor.open(TemporaryFile.folder.start, in: folder, flags)) else { return }
        let number = opened.number
        var status = stat()
        let isLarge = fstat(number, &status) == 0 && status.st_size > Self.largeFolder
        guard let entries = EntryList(opened, hidden: true) else { return }
        defer { if isLarge { removeEmptyTemporaryFolder(in: folder) } }
        var isDead: [ArraySlice<UInt8>: Bool] = [:]
        for _ in 0..<1000 {
            guard let entry = try? entries.next({ StorageError(system: $0, "list", path: path) }) else { return }
            guard entry.kind == .regular else { continue }
            let name = CString(entry.name)
            if entry.name.first != UInt8(ascii: ".") {
                TemporaryFile.removeIfDead(name, in: number)
            } else if let batches, let batch = BatchStep.batch(ofStaged: entry.name) {
                let goes = isDead[batch] ?? batches.isDead(staged: batch)
                isDead[batch] = goes
                if goes { unlinkat(number, name.start, 0) }
            }
        }
    }

    /// Removes the folder of temporary files if it is empty. After a large batch the folder would keep its size (on
    /// ext4), and a process that lists it would read all of it. The next change recreates it; a process that has it
    /// open notices when it creates a file there.
    func removeEmptyTemporaryFolder(in folder: Int32) {
        guard staging == .inFolder, unlinkat(folder, TemporaryFile.folder.start, AT_REMOVEDIR) == 0 else { return }
        forgetTemporaryFolder()
    }

    /// The size in bytes of a folder that takes longer to list than an empty one.
    private static let largeFolder = 64 << 10

    private static let itself = CString(".".utf8)
}
