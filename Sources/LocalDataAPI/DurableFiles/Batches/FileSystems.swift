import CLinux
import Glibc
import LocalDataPluginAPI

/// The properties of a file system, by its magic number; see statfs(2).
public enum FileSystemKind: Sendable {
    /// Synchronizing a folder also makes all earlier changes of names durable, even in other folders: ext2 to ext4,
    /// XFS, F2FS; and file systems in memory.
    case ordered
    /// Each folder is logged separately: Btrfs, Bcachefs.
    case logged
    /// Unknown: FUSE, network file systems, layered file systems.
    case other

    /// Queries the file system of an open folder.
    public init(of folder: Int32) {
        switch ld_linux_file_system(folder) {
        case 0xEF53, 0x5846_5342, 0xF2F5_2010, 0x0102_1994, 0x8584_58F6: self = .ordered
        case 0x9123_683E, 0xCA45_1A4E: self = .logged
        default: self = .other
        }
    }

    /// Whether syncfs(2) really synchronizes. A FUSE file system reports success without being notified.
    var isSynchronizedWhole: Bool { self != .other }
}

/// The file systems that are about to be written to.
///
/// Each is represented by a folder that is opened before anything is written: syncfs(2) reports failures since then,
/// once per open folder.
final class FileSystems {
    private var folders: [dev_t: (descriptor: Int32, path: String)] = [:]
    private var others: Set<dev_t> = []

    init() {}

    deinit { for folder in folders.values { _ = close(folder.descriptor) } }

    /// Adds the file system of a location; `false` if it cannot be synchronized as a whole.
    ///
    /// - Throws: `StorageError`.
    func insert(_ place: DurableDirectory, _ folder: DurableDirectory.Writable) throws(StorageError) -> Bool {
        if folders[folder.device] != nil { return true }
        if others.contains(folder.device) { return false }
        guard FileSystemKind(of: folder.descriptor).isSynchronizedWhole else {
            others.insert(folder.device)
            return false
        }
        let descriptor = Descriptor.open(".", in: folder.descriptor, O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else { throw StorageError(system: errno, "open the folder", path: place.path) }
        folders[folder.device] = (descriptor, place.path)
        return true
    }

    /// Makes everything that was written to them durable.
    ///
    /// - Throws: `StorageError`.
    func synchronize() throws(StorageError) {
        for folder in folders.values {
            while ld_linux_syncfs(folder.descriptor) != 0 {
                let code = errno
                if code != EINTR {
                    throw StorageError(system: code, "synchronize the file system of", path: folder.path)
                }
            }
        }
    }
}
