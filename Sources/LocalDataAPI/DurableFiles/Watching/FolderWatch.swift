import Synchronization

/// Reports files that any process puts in place or removes in a folder and in some below it. See inotify(7).
///
/// The folder need not exist, and may disappear and come back; then the watch reports that anything may have changed. A
/// file must be renamed into place, as ``DurableDirectory`` does. The watch does not report edits in place, nor a
/// symbolic link on the way that changes its target.
///
/// All watches of a process share one thread, which starts with the first watch and never ends.
package final class FolderWatch: Sendable {
    /// Calls `changed` on the thread of all watches; `changed` must not block it.
    ///
    /// - Parameters:
    ///   - path: The folder's absolute path.
    ///   - entersFolder: Whether to report files in a folder of that name, at any depth.
    /// - Throws: `SystemCallError`.
    package init(
        _ path: String, entersFolder: @escaping @Sendable (_ name: [UInt8]) -> Bool,
        changed: @escaping @Sendable (FolderChange) -> Void
    ) throws {
        self.path = path
        self.entersFolder = entersFolder
        self.changed = Mutex(changed)
        watcher = try FolderWatcher.shared()
        try watcher.begin(self)
    }

    /// Ends the watch; when this returns, `changed` is not running and will not run again.
    package func end() {
        watcher.end(self)
        changed.withLock { $0 = nil }
    }

    let path: String
    let entersFolder: @Sendable (_ name: [UInt8]) -> Bool
    private let watcher: FolderWatcher
    /// Locked during the call; `nil` after the end.
    private let changed: Mutex<(@Sendable (FolderChange) -> Void)?>

    func tell(_ change: FolderChange) { changed.withLock { $0?(change) } }
}
