internal import Synchronization

/// The hash of the stored value at the last check.
final class SeenValue: Sendable {
    private let hash: Mutex<UInt64?>

    init(_ hash: UInt64?) { self.hash = Mutex(hash) }

    /// Records the current hash, and returns whether it differs.
    func replace(_ now: UInt64?) -> Bool {
        hash.withLock { hash in
            defer { hash = now }
            return hash != now
        }
    }
}
