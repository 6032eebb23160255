import Glibc
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
package final class DurableDirectory: Sendable {
    /// The folder's absolute path.
    package let path: String
    /// How many folders above this one are synchronized by the first change.
    let responsibility: Int
    let folderPath: FolderPath
    /// Where new contents are written before they get their names.
    let staging: Staging
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
    /// Whether the folder of temporary files belongs to the folder that is open.
    let isTemporaryCurrent = Atomic<Bool>(false)

    /// Where new contents are written before they get their names.
    package enum Staging: Sendable {
        /// In the folder `.tmp`, so that a process finds them after a crash without listing every file.
        case inFolder
        /// Beside the file, under a name that starts with `.` and the file's own: for single files in the user's
        /// folders.
        case besideFile
    }

    /// A folder, which need not exist, by the absolute path of the root that it is responsible for, and the names of
    /// the folders below that root.
    ///
    /// - Parameter batches: The batches whose leftovers are removed here.
    /// - Throws: `SystemCallError` with `EINVAL` if the path is not absolute.
    package init(
        root: String, folders: [String] = [], staging: Staging = .inFolder, batches: BatchFolder? = nil
    ) throws {
        guard root.utf8.first == UInt8(ascii: "/") else { throw SystemCallError(EINVAL, "open", path: root) }
        let names = root.utf8.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
        let all = names.map { String($0) ?? String(decoding: $0, as: UTF8.self) } + folders
        path = "/" + all.joined(separator: "/")
        folderPath = FolderPath(root: names.map { CString($0) }, below: folders.map { CString($0.utf8) })
        responsibility = names.isEmpty ? folders.count : folders.count + 1
        self.staging = staging
        self.batches = batches
    }

    deinit {
        for opened in [descriptor.load(ordering: .acquiring), temporary.load(ordering: .acquiring)] where opened >= 0 {
            _ = close(opened)
        }
    }

    /// Opens a file for reading; `nil` if there is none.
    ///
    /// - Throws: `FileKindError` for a symbolic link or a socket; any other irregular file is refused when it is read.
    ///   Never blocks, not even on a pipe. `SystemCallError` for other failures.
    package func open(_ path: RelativePath) throws -> OpenFile? { try open(path, O_RDONLY) }

    /// Opens a file with an access mode: `O_RDONLY` or `O_RDWR`.
    func open(_ path: RelativePath, _ access: Int32) throws -> OpenFile? {
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
                throw FileKindError(path: location.description, found: found)
            }
            throw SystemCallError(code, "open", path: location.description)
        case let code: throw SystemCallError(code, "open", path: location.description)
        }
    }

    /// Whether the file exists.
    ///
    /// - Throws: `FileKindError` if the name belongs to something else, `SystemCallError`.
    package func exists(_ path: RelativePath) throws -> Bool {
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

    /// The identity of the file of any kind at a path; `nil` if there is none.
    func identity(of path: RelativePath) throws -> FileIdentity? {
        guard let folder = try descriptorForReading() else { return nil }
        _ = try reopenIfReplaced(folder)
        var status = stat()
        if fstatat(folder, path.text.start, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileIdentity(status) }
        let code = errno
        if code == ENOENT { return nil }
        throw failure(code, "inspect", path.text)
    }

    /// Whether a path leads to a regular file.
    func isRegular(_ path: RelativePath, in folder: Int32) throws -> Bool {
        guard let parent = try parent(of: path, in: folder) else { return false }
        return try isRegular(path.name, in: parent.number)
    }

    /// Whether a name in an open folder belongs to a regular file.
    func isRegular(_ path: CString, in folder: Int32) throws -> Bool {
        guard let found = try kind(of: path, in: folder) else { return false }
        guard found == .regular else {
            throw FileKindError(path: FileLocation(directory: self, name: path).description, found: found)
        }
        return true
    }

    private func kind(of path: CString, in folder: Int32) throws -> FileKind? {
        var status = stat()
        if fstatat(folder, path.start, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileKind(mode: status.st_mode) }
        let code = errno
        if code == ENOENT { return nil }
        throw failure(code, "inspect", path)
    }

    func failure(_ code: Int32, _ call: String, _ name: CString) -> SystemCallError {
        SystemCallError(code, call, path: FileLocation(directory: self, name: name).description)
    }
}
