import CLinux
import Glibc

/// What is known of a file system, by its magic number; see statfs(2).
package enum FileSystemKind {
    /// A folder that is synchronized takes all earlier changes of names with it, also those in other folders: ext2 to
    /// ext4, XFS, F2FS; and those in memory.
    case ordered
    /// Folders are logged one by one: Btrfs, Bcachefs.
    case logged
    /// Nothing is known: FUSE, network file systems, layers of others.
    case other

    /// Looks at the file system of an open folder.
    package init(of folder: Int32) {
        switch ld_linux_file_system(folder) {
        case 0xEF53, 0x5846_5342, 0xF2F5_2010, 0x0102_1994, 0x8584_58F6: self = .ordered
        case 0x9123_683E, 0xCA45_1A4E: self = .logged
        default: self = .other
        }
    }

    /// Whether syncfs(2) does what it says. A FUSE file system reports success and never hears of it.
    var isSynchronizedWhole: Bool { self != .other }
}

/// The file systems that something is about to be written to.
///
/// Each is known by a folder that is opened before anything is written, because syncfs(2) reports what has failed since
/// then, to each open folder once.
final class FileSystems {
    private var folders: [dev_t: (descriptor: Int32, path: String)] = [:]
    private var others: Set<dev_t> = []

    init() {}

    deinit { for folder in folders.values { _ = close(folder.descriptor) } }

    /// Takes in the file system of a place; `false` if it cannot be synchronized as a whole.
    ///
    /// - Throws: `SystemCallError`.
    func insert(_ place: DurableDirectory, _ folder: DurableDirectory.Writable) throws -> Bool {
        if folders[folder.device] != nil { return true }
        if others.contains(folder.device) { return false }
        guard FileSystemKind(of: folder.descriptor).isSynchronizedWhole else {
            others.insert(folder.device)
            return false
        }
        let descriptor = Descriptor.open(".", in: folder.descriptor, O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else { throw SystemCallError(errno, "open the folder", path: place.path) }
        folders[folder.device] = (descriptor, place.path)
        return true
    }

    /// Makes everything durable that was written to them.
    ///
    /// - Throws: `SystemCallError`.
    func synchronize() throws {
        for folder in folders.values {
            while ld_linux_syncfs(folder.descriptor) != 0 {
                let code = errno
                if code != EINTR { throw SystemCallError(code, "synchronize the file system of", path: folder.path) }
            }
        }
    }
}
