import Synchronization

/// A watch on a namespace.
package final class ChangeWatch: Sendable {
    let place: Place
    private let prefix: [UInt8]
    private let changed: Mutex<(@Sendable (String?) -> Void)?>

    init(place: Place, prefix: String, _ changed: @escaping @Sendable (String?) -> Void) {
        self.place = place
        self.prefix = Array(prefix.utf8)
        self.changed = Mutex(changed)
    }

    /// Reports a name, or with `nil` that anything may have changed.
    func tell(_ name: UnsafeRawBufferPointer?) {
        guard let name else { return changed.withLock { $0?(nil) } }
        guard name.starts(with: prefix) else { return }
        changed.withLock { $0?(String(decoding: name, as: UTF8.self)) }
    }

    /// Ends the watch; when this returns, no report is running or will follow.
    func end() { changed.withLock { $0 = nil } }
}
