internal import Synchronization

/// What was stored when it was last looked at.
final class SeenValue: Sendable {
    private let hash: Mutex<UInt64?>

    init(_ hash: UInt64?) { self.hash = Mutex(hash) }

    /// Takes another look, and tells whether it differs.
    func replace(_ now: UInt64?) -> Bool {
        hash.withLock { hash in
            defer { hash = now }
            return hash != now
        }
    }
}
