import Glibc
import LocalDataPluginAPI

/// The folders that a batch's journal may make this process change, given who else could have written the journal.
///
/// In a root that a group shares, every member may complete the batch of a dead process, and any member may have
/// written the journal. So it may only change folders that all members may write to. It may change nothing else, not
/// even below the root: this user may have folders there that are closed to the others.
struct BatchAuthority {
    private enum Reach {
        /// Only this user can have written the journal.
        case anywhere
        /// Only this user can write to the folder of the batches.
        case belowRoot
        /// Others can write to it.
        case sharedFolders(of: gid_t)
    }

    private let reach: Reach
    private let journal: String

    /// The authority of an open journal, or, if it is `nil`, of one that this process is about to write.
    init(_ journal: Int32?, named path: String, in folder: DurableDirectory.Writable) throws(StorageError) {
        var root = stat()
        var batches = stat()
        guard fstat(folder.descriptor, &batches) == 0, fstatat(folder.descriptor, "..", &root, 0) == 0 else {
            throw StorageError(system: errno, "inspect the folder of", path: path)
        }
        var written: stat?
        if let journal {
            var status = stat()
            guard fstat(journal, &status) == 0 else { throw StorageError(system: errno, "inspect", path: path) }
            written = status
        }
        self.journal = path
        let usual = Self.reach(written, batches, root, as: .usual)
        // The file system may show a root that no group shares as owned by someone else.
        if case .sharedFolders = usual, !FolderMaker.isOfGroup(root.st_mode) {
            reach = Self.reach(written, batches, root, as: FileSystemUser(probing: folder.descriptor))
        } else {
            reach = usual
        }
    }

    private static func reach(_ journal: stat?, _ batches: stat, _ root: stat, as user: FileSystemUser) -> Reach {
        let isOwn = journal.map { user.owns($0) && user.isClosed($0) && $0.st_nlink == 1 } ?? true
        let isFolderOwn = user.owns(batches) && user.isClosed(batches)
        // In a sticky folder, nobody else can replace this user's files.
        let isRootOwn = user.owns(root) && (user.isClosed(root) || root.st_mode & S_ISVTX != 0)
        switch (isOwn, isFolderOwn, isRootOwn) {
        case (true, true, true): return .anywhere
        case (true, true, false), (false, true, true): return .belowRoot
        default: return .sharedFolders(of: root.st_gid)
        }
    }

    /// Checks that a location may be changed.
    ///
    /// - Throws: `StorageError` with `EPERM` otherwise.
    func check(_ place: BatchJournal.Place) throws(StorageError) {
        if case .anywhere = reach { return }
        guard !place.isBelowRoot else { return }
        throw refusal("it changes '\(String(decoding: place.path, as: UTF8.self))', which is outside of the root")
    }

    /// Checks that an open folder may be changed.
    ///
    /// - Throws: `StorageError` with `EPERM` otherwise.
    func check(folder: Int32, at path: @autoclosure () -> String) throws(StorageError) {
        guard case .sharedFolders(let group) = reach else { return }
        var status = stat()
        guard fstat(folder, &status) == 0 else { throw StorageError(system: errno, "inspect", path: path()) }
        guard !FolderMaker.isOfGroup(status.st_mode) || status.st_gid != group else { return }
        throw refusal("it changes '\(path())', which its group does not share")
    }

    private func refusal(_ what: String) -> StorageError {
        StorageError(
            system: EPERM, "complete the batch in", path: journal,
            detail: "\(what), and other users could have written the journal")
    }
}
