import CLinux
import Glibc
import Synchronization

/// The thread that tells all watches of the process, and the folders that they need.
final class FolderWatcher: Sendable {
    /// The process's own, with its thread.
    static let shared = Result { try FolderWatcher() }

    private let queue: NotificationQueue
    private let state = Mutex(WatchedFolders())

    private init() throws {
        queue = try NotificationQueue()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        let code = pthread_create(&thread, &attributes, runFolderWatcher, context)
        guard code == 0 else {
            Unmanaged<FolderWatcher>.fromOpaque(context).release()
            throw SystemCallError(code, "start the thread of", path: "inotify")
        }
    }

    func begin(_ watch: FolderWatch) throws {
        try state.withLock { state in
            do {
                _ = try state.follow(watch, queue)
            } catch {
                state.forget(watch, queue)
                throw error
            }
        }
    }

    func end(_ watch: FolderWatch) { state.withLock { $0.forget(watch, queue) } }

    fileprivate func run() {
        while true {
            let events = queue.next()
            // The queue is open for as long as the process lives, so there are always some.
            let changes = state.withLock { state in events.flatMap { state.changes(by: $0, queue) } }
            for (watch, change) in changes { watch.tell(change) }
        }
    }
}

private func runFolderWatcher(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    ld_linux_name_thread("ld-watch")
    if let context { Unmanaged<FolderWatcher>.fromOpaque(context).takeRetainedValue().run() }
    return nil
}
