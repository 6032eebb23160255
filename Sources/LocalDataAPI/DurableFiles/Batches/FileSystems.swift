import CLinux
import Glibc

/// The file systems that something is about to be written to.
///
/// Each is known by a folder that is opened before anything is written, because syncfs(2) reports what has failed since
/// then, to each open folder once.
final class FileSystems {
    private var folders: [dev_t: (descriptor: Int32, path: String)] = [:]

    init() {}

    deinit { for folder in folders.values { _ = close(folder.descriptor) } }

    /// Takes in the file system of a place.
    ///
    /// - Throws: `SystemCallError`.
    func insert(_ place: DurableDirectory, _ folder: DurableDirectory.Writable) throws {
        guard folders[folder.device] == nil else { return }
        let descriptor = Descriptor.open(".", in: folder.descriptor, O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else { throw SystemCallError(errno, "open the folder", path: place.path) }
        folders[folder.device] = (descriptor, place.path)
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
