internal import FoundationEssentials
internal import Synchronization

/// Keeps headers that ask for slow derivations from taking the machine: one derivation at a time in a process, and none
/// again for bytes that did not open.
enum SlowDerivations {
    private static let turn = Mutex<Void>(())
    private static let refused = Mutex<[Int]>([])
    private static let most = 256

    /// Makes one derivation while no other thread makes one. May wait.
    static func alone<Failure: Error>(_ derive: () throws(Failure) -> Void) throws(Failure) {
        try turn.withLock { (_) throws(Failure) in try derive() }
    }

    /// What stands for sealed bytes at an address, under a key. Nobody can choose others that have the same, since the
    /// hash is seeded at random in each process.
    static func mark(_ sealed: UnsafeRawBufferPointer, _ context: Data, _ key: EnvelopeKey) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: sealed)
        hasher.combine(context)
        key.material.withBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    /// Whether the bytes of a mark were refused before.
    static func isRefused(_ mark: Int) -> Bool { refused.withLock { $0.contains(mark) } }

    /// Remembers that the bytes of a mark do not open.
    static func refuse(_ mark: Int) {
        refused.withLock { marks in
            guard !marks.contains(mark) else { return }
            if marks.count == most { marks.removeFirst() }
            marks.append(mark)
        }
    }
}
