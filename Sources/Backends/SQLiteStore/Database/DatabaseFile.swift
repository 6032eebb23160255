import CSQLite
import DurableFiles
import Glibc
import LocalDataPluginAPI

/// Creates a database file: atomically, so that no process ever sees a part of it, and only once if several processes
/// create it at the same time.
struct DatabaseFile {
    let path: String
    private let folder: String
    /// Whether its folder, if it is made, is for its owner only, also below a folder that a group shares.
    private let isFolderPrivate: Bool

    init(_ path: String, isFolderPrivate: Bool) {
        self.path = path
        self.isFolderPrivate = isFolderPrivate
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.utf8.startIndex
        folder = slash == path.utf8.startIndex ? "/" : String(path[..<slash])
    }

    /// Creates the folder if it is missing, and an empty database in it unless the file exists.
    func make() throws {
        try makeFolder()
        let held = try sharedFolder()
        try Schema.withEmptyDatabase { content in
            let file = try UnnamedFile.make(in: held.map(Self.path(of:)) ?? folder)
            try file.checkLocks()
            try file.write(content)
            try file.synchronize()
            try file.publish(as: held.map(name(in:)) ?? path)
        }
        try synchronizeNames()
    }

    /// Makes the names of the database and of its log durable. SQLite does so too after creating the log, but ignores
    /// failures.
    func synchronizeNames() throws {
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw StorageError.system(errno, "open the folder '\(folder)'") }
        defer { _ = close(directory) }
        while fsync(directory) != 0 {
            // EINVAL: the file system cannot synchronize folders.
            if errno == EINVAL { return }
            guard errno == EINTR else { throw StorageError.system(errno, "synchronize the folder '\(folder)'") }
        }
    }

    /// An unnamed file beside the database, for data that will go into it.
    func spool() throws -> UnnamedFile {
        try makeFolder()
        let held = try sharedFolder()
        let folder = held.map(Self.path(of:)) ?? folder
        return try UnnamedFile.make(in: folder)
    }

    /// Removes the spools of dead processes.
    func removeAbandonedSpools() { UnnamedFile.removeAbandoned(in: folder) }

    /// The folder, if others may write to it or to one above it.
    ///
    /// - Throws: `storeUnavailable` if another user could have put a trap under one of the database's names there.
    func sharedFolder() throws(StorageError) -> HeldFolder? {
        let held: HeldFolder?
        do { held = try HeldFolder(folder) } catch { throw .system(error) }
        guard let held else { return nil }
        for suffix in ["", "-wal", "-shm", "-journal"] {
            guard let problem = held.problem(ofFile: fileName + suffix) else { continue }
            throw StorageError(
                .storeUnavailable,
                "cannot open '\(path)\(suffix)' in a folder that others may write to: \(problem)",
                hint: "find out which user put it there, and remove it")
        }
        return held
    }

    /// Throws for what is there and neither a file nor a folder: SQLite would wait for the writer of a FIFO.
    func requireRegular() throws(StorageError) {
        var status = stat()
        guard stat(path, &status) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else { return }
        throw StorageError(
            .storeUnavailable, "'\(path)' is not a regular file", hint: "move it away, or choose another 'path'")
    }

    /// The folder's owner if this process runs as the superuser, the owner is another user, and no group shares the
    /// folder.
    func foreignOwner() throws(StorageError) -> UInt32? {
        do {
            return try DurableDirectory(root: folder, isRootPrivate: true).foreignOwner()
        } catch { throw .system(error) }
    }

    /// The path of the database through an open folder, which stays valid if the folder is moved.
    func name(in folder: HeldFolder) -> String { "\(Self.path(of: folder))/\(fileName)" }

    private static func path(of folder: HeldFolder) -> String { "/proc/self/fd/\(folder.number)" }

    /// The name of the VFS that opens such a path unchanged.
    static func folderVFS() throws -> String {
        guard let made else { throw StorageError(.unknown, "SQLite has no VFS for Unix") }
        return made
    }

    private static let made = ld_sqlite_make_folder_vfs().map { String(cString: $0) }

    private var fileName: String { String(path.utf8.dropFirst(folder == "/" ? 1 : folder.utf8.count + 1)) ?? "" }

    private func makeFolder() throws(StorageError) {
        do { try DurableDirectory(root: folder, isRootPrivate: isFolderPrivate).make() } catch { throw .system(error) }
    }
}

/// The kind of file at a path.
enum FilePresence {
    case missing
    case present

    /// Checks the path.
    ///
    /// - Throws: `permissionDenied` and `storeUnavailable` if that is unknown.
    init(_ path: String) throws {
        var status = stat()
        guard stat(path, &status) != 0 else {
            self = .present
            return
        }
        let code = errno
        guard code == ENOENT else { throw StorageError.system(code, "inspect the database '\(path)'") }
        self = .missing
    }
}

/// The identity of a database's log and of its index. SQLite removes them only when no connection is left.
struct LogFiles: Equatable {
    private let log: FileIdentity
    private let index: FileIdentity

    /// `nil` if one is missing.
    init?(of path: String) {
        guard let log = FileIdentity("\(path)-wal"), let index = FileIdentity("\(path)-shm") else { return nil }
        (self.log, self.index) = (log, index)
    }

    private struct FileIdentity: Equatable {
        let device: dev_t
        let number: ino_t

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, number) = (status.st_dev, status.st_ino)
        }
    }
}

/// Whether a database is on a medium that nobody can write to.
enum ReadOnlyMedium {
    /// The medium can be written, or that is unknown.
    case none
    /// The database is completely in its file.
    case withoutLog
    /// There is a log beside it.
    case withLog

    /// Checks the medium.
    init(_ path: String) {
        var medium = statvfs()
        guard statvfs(path, &medium) == 0, medium.f_flag & UInt(ST_RDONLY) != 0 else {
            self = .none
            return
        }
        var log = stat()
        self = stat("\(path)-wal", &log) == 0 && log.st_size > 0 ? .withLog : .withoutLog
    }
}
