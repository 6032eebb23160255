import CLinux
import Glibc
public import LocalDataPluginAPI
import Synchronization

/// The thread that notifies all watches of the process, and the folders that they need.
final class FolderWatcher: Sendable {
    private static let started = Mutex<FolderWatcher?>(nil)

    /// The process's watcher, created with its thread on first use.
    ///
    /// - Throws: `StorageError`; the next caller tries again.
    static func shared() throws(StorageError) -> FolderWatcher {
        try started.withLock { (started) throws(StorageError) in
            if let started { return started }
            let watcher = try FolderWatcher()
            started = watcher
            return watcher
        }
    }

    private let queue: NotificationQueue
    private let state = Mutex(WatchedFolders())

    private init() throws(StorageError) {
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
            throw StorageError(system: code, "start the thread of", path: "inotify")
        }
    }

    func begin(_ watch: FolderWatch) throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in
            do throws(StorageError) {
                _ = try state.follow(watch, queue)
            } catch {
                state.forget(watch, queue)
                throw error
            }
        }
    }

    func end(_ watch: FolderWatch) { state.withLock { $0.forget(watch, queue) } }

    fileprivate func run() {
        while let events = queue.next() {
            let changes = state.withLock { state in events.flatMap { state.changes(by: $0, queue) } }
            for (watch, change) in changes { watch.tell(change) }
        }
    }
}

private func runFolderWatcher(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    ld_linux_name_thread("ld-watch")
    // Only the program's own threads handle signals.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
    if let context { Unmanaged<FolderWatcher>.fromOpaque(context).takeRetainedValue().run() }
    return nil
}

/// Reports files that any process puts in place or removes in a folder and in some below it. See inotify(7).
///
/// The folder need not exist, and may disappear and come back; then the watch reports that anything may have changed. A
/// file must be renamed into place, as ``DurableDirectory`` does. Unless asked to, the watch does not report edits in
/// place; it never reports a symbolic link on the way that changes its target.
///
/// All watches of a process share one thread, which starts with the first watch and never ends.
public final class FolderWatch: Sendable {
    /// Calls `changed` on the thread of all watches; `changed` must not block it.
    ///
    /// - Parameters:
    ///   - path: The folder's absolute path.
    ///   - includesWrites: Whether to report each write to a file, too.
    ///   - entersFolder: Whether to report files in a folder of that name, at any depth.
    /// - Throws: `StorageError`.
    public init(
        _ path: String, includesWrites: Bool = false, entersFolder: @escaping @Sendable (_ name: [UInt8]) -> Bool,
        changed: @escaping @Sendable (FolderChange) -> Void
    ) throws(StorageError) {
        self.path = path
        self.includesWrites = includesWrites
        self.entersFolder = entersFolder
        self.changed = Mutex(changed)
        watcher = try FolderWatcher.shared()
        try watcher.begin(self)
    }

    /// Ends the watch; when this returns, `changed` is not running and will not run again.
    public func end() {
        watcher.end(self)
        changed.withLock { $0 = nil }
    }

    let path: String
    let includesWrites: Bool
    let entersFolder: @Sendable (_ name: [UInt8]) -> Bool
    private let watcher: FolderWatcher
    /// Locked during the call; `nil` after the end.
    private let changed: Mutex<(@Sendable (FolderChange) -> Void)?>

    func tell(_ change: FolderChange) { changed.withLock { $0?(change) } }
}

/// A change that a ``FolderWatch`` reports.
public enum FolderChange: Hashable, Sendable {
    /// A file was put in place or removed. Names are bytes; folders start below the watched folder.
    case file(folders: [[UInt8]], name: [UInt8])
    /// Anything may have changed.
    case anything
}
