internal import LocalDataPluginAPI
internal import Synchronization

/// A watch on a namespace.
final class PostgreSQLWatch: Sendable {
    private let place: StorageNamespace
    private let prefix: [UInt8]
    private let changed: Mutex<(@Sendable (String?) -> Void)?>

    init(_ place: StorageNamespace, prefix: String, _ changed: @escaping @Sendable (String?) -> Void) {
        self.place = place
        self.prefix = Array(prefix.utf8)
        self.changed = Mutex(changed)
    }

    /// Reports a changed value if the watch is about it.
    func tell(_ place: StorageNamespace, _ name: UnsafeRawBufferPointer) {
        guard name.starts(with: prefix), place == self.place else { return }
        changed.withLock { $0?(String(decoding: name, as: UTF8.self)) }
    }

    /// Reports that anything may have changed.
    func tellAll() { changed.withLock { $0?(nil) } }

    /// Ends the watch; when this returns, no report is running or will follow.
    func end() { changed.withLock { $0 = nil } }
}
