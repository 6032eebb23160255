import ByteCoding
import DurableFiles
import Glibc
import LocalDataPluginAPI
import Synchronization

/// The folder that all writers share, each with a subfolder of its name.
final class SharedFolder: Sendable {
    let path: String
    /// The name of an entry without which the folder does not count as reachable; empty for none.
    private let marker: String
    /// The device that the folder was on when it had entries.
    private let device = Mutex<dev_t?>(nil)
    private let root: DurableDirectory
    /// The subfolders that were used. One that is replaced is found again with its next list.
    private let subfolders = Mutex<[String: DurableDirectory]>([:])
    /// The most subfolders to keep open.
    private static let mostOpen = 64

    /// - Throws: `StorageError` if the path is not absolute.
    init(path: String, marker: String) throws {
        root = try DurableDirectory(root: path)
        // Nothing there but the writers' subfolders is the transport's.
        root.skipCleaning()
        (self.path, self.marker) = (root.path, marker)
    }

    /// Checks that the folder is reachable.
    ///
    /// - Throws: `storeUnavailable`.
    func reach() throws {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let code = errno
            throw unavailable("cannot be reached: \(StorageError.text(of: code))", "create it, or mount it")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw unavailable("is not a folder", "move it away, or choose another 'folder'")
        }
        if !marker.isEmpty, access("\(path)/\(marker)", F_OK) != 0 {
            throw unavailable("has no '\(marker)'", "mount it, or create that there if it is the right folder")
        }
        let isEmpty = try StorageError.reaching { try self.isEmpty() }
        try device.withLock { device in
            if isEmpty, let device, device != status.st_dev {
                throw unavailable("was unmounted: it is empty, and on another device", "mount it again")
            }
            if !isEmpty { device = status.st_dev }
        }
    }

    /// The names of the writers' subfolders, sorted.
    ///
    /// - Throws: `StorageError`.
    func writers() throws -> [String] {
        var writers: [String] = []
        try root.forEachEntry { name, kind in
            if kind == .directory, SyncRecord.isUsable(name) { writers.append(String(decoding: name, as: UTF8.self)) }
            return true
        }
        return writers.sorted()
    }

    /// A writer's subfolder, which need not exist. No change creates the shared folder itself, which may be unmounted.
    ///
    /// - Throws: `StorageError`.
    func subfolder(of writer: String) throws -> DurableDirectory {
        try subfolders.withLock { known in
            if let directory = known[writer] { return directory }
            let directory = try DurableDirectory(root: path, folders: [writer], makesRoot: false)
            directory.skipCleaning()
            if known.count < Self.mostOpen { known[writer] = directory }
            return directory
        }
    }

    /// A hash of what all segments are now, to notice changes that the system does not report.
    func fingerprint() throws -> UInt64 {
        var hash = StableHash.start
        for writer in try writers() {
            var entries: [UInt64] = []
            let directory = try subfolder(of: writer)
            for name in try directory.segmentNames() {
                guard let file = try? directory.openSegment(name), let status = try? file.status() else { continue }
                entries += [name.id, status.fingerprint]
            }
            entries.withUnsafeBytes { StableHash.add($0, to: &hash) }
        }
        return hash
    }

    private func isEmpty() throws -> Bool {
        var isEmpty = true
        try root.forEachEntry { _, _ in
            isEmpty = false
            return false
        }
        return isEmpty
    }

    private func unavailable(_ problem: String, _ hint: String) -> StorageError {
        StorageError(.storeUnavailable, "the shared folder '\(path)' \(problem)", hint: hint)
    }
}

extension StorageError {
    /// Runs file operations. What is missing or gone means that the shared folder cannot be reached.
    static func reaching<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StorageError {
            throw switch error.cause {
            case .systemCall(ENOENT), .systemCall(ENOTDIR), .systemCall(ENOTCONN), .systemCall(ESTALE):
                StorageError(.storeUnavailable, error.message, hint: "check that the shared folder is mounted")
            case .systemCall(EIO):
                StorageError(.storeUnavailable, error.message, hint: "check the disk, then try again")
            default: error
            }
        }
    }
}
