import Glibc
public import LocalDataPluginAPI
import Synchronization

/// A folder whose files are replaced and removed durably, and read whole.
///
/// - **Reading** creates nothing, waits for nothing and takes no lock. A missing folder counts as empty.
/// - **Writing** creates the folder and every missing folder above it, with mode 0700. If the nearest existing one has
///   the set-group-ID bit, it belongs to a group: then new folders get 2770 and new files 0660, whatever the umask.
///   Otherwise files get 0600. Existing folders keep their modes.
/// - **Durability.** When a change returns, the file, its folder, and every folder that this type has created are on
///   the disk. A folder is created only in one that is itself durable. Because an earlier process may have died before
///   it synchronized, the first change of a process synchronizes all folders from the root's parent down.
/// - **Threads and processes** may use one folder at once, each with its own objects or sharing one.
/// - **Symbolic links** in place of a file, or of a folder below the root, are refused; ``FolderPath`` lists the links
///   that are followed on the way to the root.
/// - **Replaced folders.** If a folder was deleted or renamed and then recreated, the next write finds the new one, and
///   so does the next read that does not find its file.
public final class DurableDirectory: Sendable {
    /// The folder's absolute path.
    public let path: String
    /// How many folders above this one are synchronized by the first change.
    let responsibility: Int
    let folderPath: FolderPath
    /// Where new contents are written before they get their names.
    let staging: Staging
    /// What new files have to be.
    let rule: NewFileRule
    /// The batches whose leftovers may be here.
    let batches: BatchFolder?
    /// Once open, the number stays the same. dup3(2) redirects it to another folder of the same path, so that threads
    /// that are using it in a call need no lock.
    let descriptor = Atomic<Int32>(-1)
    let isChainDurable = Atomic<Bool>(false)
    /// Whether to look for temporary files of dead processes when the folder is opened.
    let isToBeCleaned = Atomic<Bool>(true)
    /// The open folder of temporary files, kept in the same way.
    let temporary = Atomic<Int32>(-1)
    /// See ``longestName``; 0 if that is unknown.
    let nameLimit = Atomic<Int>(0)
    /// Whether the folder of temporary files belongs to the folder that is open.
    let isTemporaryCurrent = Atomic<Bool>(false)

    /// Where new contents are written before they get their names.
    public enum Staging: Sendable {
        /// In the folder `.tmp`, so that a process finds them after a crash without listing every file.
        case inFolder
        /// Beside the file, under a name that starts with `.` and the file's own: for single files in the user's
        /// folders. They and the folders that are created for them are for their owner only, also below a group's.
        case besideFile
    }

    /// A folder, which need not exist, by the absolute path of the root that it is responsible for, and the names of
    /// the folders below that root.
    ///
    /// - Parameters:
    ///   - makesRoot: Whether changes create the root, too. If not, they fail with `ENOENT` while it is missing.
    ///   - isRootPrivate: Whether the root and the folders above it are made for their owner only, also below a folder
    ///     that a group shares: what is shared is then a root that somebody has made so.
    ///   - rule: What new files have to be.
    ///   - batches: The batches whose leftovers are removed here.
    /// - Throws: `StorageError` with `EINVAL` if the path is not absolute.
    public init(
        root: String, folders: [String] = [], makesRoot: Bool = true, isRootPrivate: Bool = false,
        staging: Staging = .inFolder, rule: NewFileRule = .any, batches: BatchFolder? = nil
    ) throws(StorageError) {
        guard root.utf8.first == UInt8(ascii: "/") else { throw StorageError(system: EINVAL, "open", path: root) }
        let names = root.utf8.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
        let all = names.map { String($0) ?? String(decoding: $0, as: UTF8.self) } + folders
        path = "/" + all.joined(separator: "/")
        folderPath = FolderPath(
            root: names.map { CString($0) }, below: folders.map { CString($0.utf8) }, makesRoot: makesRoot,
            isPrivate: staging == .besideFile, isRootPrivate: isRootPrivate)
        responsibility = names.isEmpty ? folders.count : folders.count + 1
        self.staging = staging
        self.rule = rule
        self.batches = batches
    }

    deinit {
        for opened in [descriptor.load(ordering: .acquiring), temporary.load(ordering: .acquiring)] where opened >= 0 {
            _ = close(opened)
        }
    }

    /// Opens a file for reading; `nil` if absent.
    ///
    /// Never blocks, not even on a pipe.
    ///
    /// - Throws: `StorageError`, also for a symbolic link or a socket; any other irregular file is refused when it is
    ///   read.
    public func open(_ path: RelativePath) throws(StorageError) -> OpenFile? { try open(path, O_RDONLY) }

    /// Opens a file with an access mode: `O_RDONLY` or `O_RDWR`.
    func open(_ path: RelativePath, _ access: Int32) throws(StorageError) -> OpenFile? {
        guard let folder = try descriptorForReading() else { return nil }
        var opened = Self.open(path, in: folder, access)
        if opened < 0, errno == ENOENT {
            guard try reopenIfReplaced(folder) else { return nil }
            opened = Self.open(path, in: folder, access)
        }
        let location = FileLocation(directory: self, name: path.text)
        if let descriptor = Descriptor(opened) { return OpenFile(descriptor, at: location) }
        switch errno {
        case ENOENT: return nil
        case let code where code == ELOOP || code == ENXIO:
            if let parent = try parent(of: path, in: folder), let found = try kind(of: path.name, in: parent.number),
                found != .regular
            {
                throw StorageError(irregular: found, at: location.description)
            }
            throw StorageError(system: code, "open", path: location.description)
        case let code: throw StorageError(system: code, "open", path: location.description)
        }
    }

    /// Whether the file exists.
    ///
    /// - Throws: `StorageError`, also if the name belongs to something else.
    public func exists(_ path: RelativePath) throws(StorageError) -> Bool {
        guard let folder = try descriptorForReading() else { return false }
        if try isRegular(path, in: folder) { return true }
        guard try reopenIfReplaced(folder) else { return false }
        return try isRegular(path, in: folder)
    }

    private static func open(_ path: RelativePath, in folder: Int32, _ access: Int32) -> Int32 {
        path.folders.isEmpty
            ? Descriptor.open(path.name.start, in: folder, access | O_NOFOLLOW)
            : Descriptor.openBelow(path.text.start, in: folder, access)
    }

    /// The identity of the file of any kind at a path; `nil` if absent.
    func identity(of path: RelativePath) throws(StorageError) -> FileIdentity? {
        guard let folder = try descriptorForReading() else { return nil }
        _ = try reopenIfReplaced(folder)
        var status = stat()
        if fstatat(folder, path.text.start, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileIdentity(status) }
        let code = errno
        if code == ENOENT { return nil }
        throw failure(code, "inspect", path.text)
    }

    /// Whether a path leads to a regular file.
    func isRegular(_ path: RelativePath, in folder: Int32) throws(StorageError) -> Bool {
        guard let parent = try parent(of: path, in: folder) else { return false }
        return try isRegular(path.name, in: parent.number)
    }

    /// Whether a name in an open folder belongs to a regular file.
    func isRegular(_ path: CString, in folder: Int32) throws(StorageError) -> Bool {
        guard let found = try kind(of: path, in: folder) else { return false }
        guard found == .regular else {
            throw StorageError(irregular: found, at: FileLocation(directory: self, name: path).description)
        }
        return true
    }

    private func kind(of path: CString, in folder: Int32) throws(StorageError) -> FileKind? {
        var status = stat()
        if fstatat(folder, path.start, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileKind(mode: status.st_mode) }
        let code = errno
        if code == ENOENT { return nil }
        throw failure(code, "inspect", path)
    }

    func failure(_ code: Int32, _ call: String, _ name: CString) -> StorageError {
        StorageError(system: code, call, path: FileLocation(directory: self, name: name).description)
    }

    /// A file's absolute path, for people.
    func location(of path: RelativePath) -> String { FileLocation(directory: self, name: path.text).description }
}

/// The immediate parent folder of a file: a directory, or one below it that is open as long as this value lives.
struct ParentFolder: ~Copyable {
    let number: Int32
    private let opened: Descriptor?

    init(_ directory: Int32) {
        number = directory
        opened = nil
    }

    init(_ opened: consuming Descriptor) {
        number = opened.number
        self.opened = consume opened
    }
}

extension DurableDirectory {
    /// The immediate parent folder of a file; `nil` if it or one above it is missing. Follows no symbolic link.
    func parent(of path: RelativePath, in folder: Int32) throws(StorageError) -> ParentFolder? {
        guard let inner = path.folders.last else { return ParentFolder(folder) }
        guard let opened = try openFolder(inner, in: folder) else { return nil }
        return ParentFolder(opened)
    }

    /// Creates the missing parent folders of a file.
    func makeFolders(of path: RelativePath, _ folder: Writable) throws(StorageError) {
        var parent = ParentFolder(folder.descriptor)
        for inner in path.folders {
            try FolderMaker.make(
                inner.name, in: parent.number, isShared: folder.isShared,
                at: FileLocation(directory: self, name: inner.path).description)
            guard let opened = try openFolder(inner, in: folder.descriptor) else {
                throw failure(ENOENT, "open the folder", inner.path)
            }
            parent = ParentFolder(opened)
        }
    }

    /// Removes the empty parent folders of a file.
    func removeEmptyFolders(of path: RelativePath, in folder: Int32) {
        for (index, inner) in path.folders.enumerated().reversed() {
            var above: Descriptor?
            if index > 0 {
                above = try? openFolder(path.folders[index - 1], in: folder)
                if above == nil { return }
            }
            guard unlinkat(above?.number ?? folder, inner.name.start, AT_REMOVEDIR) == 0 else { return }
        }
    }

    /// Makes the entries of a file's parent folder durable; `false` if the folder is gone.
    func synchronize(_ inner: RelativePath.Folder, in folder: Int32) throws(StorageError) -> Bool {
        do {
            let location = FileLocation(directory: self, name: inner.path)
            try FolderMaker.synchronize(inner.path.start, in: folder, at: location.description, isOwn: true)
            return true
        } catch let error where error.systemError == ENOENT {
            return false
        }
    }

    private func openFolder(_ inner: RelativePath.Folder, in folder: Int32) throws(StorageError) -> Descriptor? {
        let flags = Descriptor.pathOnly | O_DIRECTORY
        if let opened = Descriptor(Descriptor.openBelow(inner.path.start, in: folder, flags)) { return opened }
        let code = errno
        if code == ENOENT { return nil }
        throw failure(code, "open the folder", inner.path)
    }
}

extension DurableDirectory {
    /// Removes a file and its parent folders that become empty; `false` if there was no file.
    ///
    /// When this returns, the file stays removed, even if the result is `false`: someone else may have removed the file
    /// without making that durable.
    ///
    /// - Throws: `StorageError`, which states the outcome; also if the name belongs to something other than a regular
    ///   file.
    public func remove(_ path: RelativePath) throws(StorageError) -> Bool {
        do {
            return try removeOnce(path)
        } catch {
            throw error.failing(.remove, of: location(of: path))
        }
    }

    private func removeOnce(_ path: RelativePath) throws(StorageError) -> Bool {
        guard let folder = try descriptorForReading() else { return false }
        _ = try reopenIfReplaced(folder)
        var isRemoved = false
        if let parent = try parent(of: path, in: folder), try isRegular(path.name, in: parent.number) {
            isRemoved = unlinkat(parent.number, path.name.start, 0) == 0
            if !isRemoved {
                let code = errno
                guard code == ENOENT else {
                    let error = failure(code, "remove", path.text)
                    // A failing disk or server may have removed it although it reported an error.
                    if code == EIO, try !isRegular(path.name, in: parent.number) {
                        throw error.afterChange(.remove, of: location(of: path))
                    }
                    throw error
                }
            }
        }
        do {
            try synchronizeNearest(path, folder)
        } catch {
            throw error.afterChange(.remove, of: location(of: path))
        }
        if isRemoved {
            // This need not be durable: at worst an empty folder is left after a power loss.
            removeEmptyFolders(of: path, in: folder)
        }
        return isRemoved
    }

    /// Synchronizes the innermost existing parent folder: if an inner one is gone, its removal from the next one must
    /// become durable.
    private func synchronizeNearest(_ path: RelativePath, _ folder: Int32) throws(StorageError) {
        for inner in path.folders.reversed() where try synchronize(inner, in: folder) { return }
        try synchronizeSelf(folder)
    }
}
