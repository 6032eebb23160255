import Synchronization

/// Tells of files that are put in place or go, in a folder and in some below it, whichever process does it. See
/// inotify(7).
///
/// The folder need not exist, and may go and come back: what stands in it then is told as "anything may have changed".
/// A file must be renamed into place, as ``DurableDirectory`` does; what someone writes into it in place is not told,
/// nor that a symbolic link on the way leads elsewhere.
///
/// All watches of a process share one thread. It begins with the first and stays.
package final class FolderWatch: Sendable {
    /// Calls `changed`, on the thread of all watches, which it must not hold up.
    ///
    /// - Parameters:
    ///   - path: The folder's absolute path.
    ///   - entersFolder: Whether files in a folder of that name, at any depth, are told too.
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
    /// Held while it is called; `nil` after the end.
    private let changed: Mutex<(@Sendable (FolderChange) -> Void)?>

    func tell(_ change: FolderChange) { changed.withLock { $0?(change) } }
}
