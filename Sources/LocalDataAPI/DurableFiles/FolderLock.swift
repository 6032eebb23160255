import Glibc
public import LocalDataPluginAPI

/// An exclusive lock on a folder itself, among the processes of this machine. It needs no file, so nothing of it is
/// copied with the folder's content. It ends when this value goes out of scope or the process ends in any way.
///
/// It is a lock of flock(2) on the open folder. Network and FUSE file systems leave those of folders to the kernel:
/// they do not reach other machines.
public struct FolderLock: ~Copyable, Sendable {
    private let descriptor: Descriptor

    /// Waits until nobody else holds the lock. Creates a missing folder.
    ///
    /// - Parameter isCancelled: Asked while waiting.
    /// - Throws: `StorageError` with `ETIMEDOUT` and the lock's holder if that takes longer than `patience`, and
    ///   with `ECANCELED`.
    public init(_ directory: DurableDirectory, patience: Duration, isCancelled: () -> Bool) throws(StorageError) {
        let deadline = ContinuousClock.now + patience
        var pause = LockPause(from: 100, to: 20_000)
        while true {
            let folder = try directory.folderForWriting()
            guard let opened = Descriptor(Descriptor.open(".", in: folder.descriptor, O_RDONLY | O_DIRECTORY)) else {
                throw StorageError(system: errno, "open the folder", path: directory.path)
            }
            if flock(opened.number, LOCK_EX | LOCK_NB) == 0 {
                // The folder may have been replaced before it was locked.
                let current = try directory.folderForWriting()
                var here = stat()
                guard fstat(opened.number, &here) == 0, here.st_ino == current.inode, here.st_dev == current.device
                else { continue }
                descriptor = opened
                return
            }
            let code = errno
            if code == EINTR { continue }
            guard code == EWOULDBLOCK else { throw StorageError(system: code, "lock the folder", path: directory.path) }
            if isCancelled() { throw StorageError(system: ECANCELED, "lock the folder", path: directory.path) }
            guard ContinuousClock.now < deadline else {
                let holder = LockHolder(of: opened.number).map { "\($0)" } ?? "another process"
                throw StorageError(
                    system: ETIMEDOUT, "lock the folder", path: directory.path, detail: "\(holder) holds the lock")
            }
            pause.take()
        }
    }

    /// Closing is not enough: a child process that is starting shares the open folder until it runs its program.
    deinit { _ = flock(descriptor.number, LOCK_UN) }
}
