internal import FoundationEssentials
internal import Synchronization

/// Limits headers that demand slow derivations: one derivation at a time in a process, and none again for bytes that
/// did not open.
enum SlowDerivations {
    private static let turn = Mutex<Void>(())
    private static let refused = Mutex<[Int]>([])
    private static let most = 256

    /// Runs one derivation while no other thread runs one. May wait.
    static func alone<Failure: Error>(_ derive: () throws(Failure) -> Void) throws(Failure) {
        try turn.withLock { (_) throws(Failure) in try derive() }
    }

    /// A mark for sealed bytes at an address under a key. Nobody can construct other bytes with the same mark, since
    /// the hash has a random seed in each process.
    static func mark(_ sealed: UnsafeRawBufferPointer, _ context: Data, _ key: EnvelopeKey) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: sealed)
        hasher.combine(context)
        key.material.withBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    /// Whether the bytes with this mark were refused before.
    static func isRefused(_ mark: Int) -> Bool { refused.withLock { $0.contains(mark) } }

    /// Records that the bytes with this mark do not open.
    static func refuse(_ mark: Int) {
        refused.withLock { marks in
            guard !marks.contains(mark) else { return }
            if marks.count == most { marks.removeFirst() }
            marks.append(mark)
        }
    }
}
