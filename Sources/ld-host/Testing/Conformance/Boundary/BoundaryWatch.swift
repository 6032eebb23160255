internal import CLocalData
internal import HostPlugins
internal import LocalDataAPI
internal import Synchronization

/// A watch on a store that records what the store reports.
final class BoundaryWatch: @unchecked Sendable {
    // The token is written once, in init; everything else is constant or locked.
    private struct State {
        var names: [String] = []
        var waiting: [(name: String, gate: Gate)] = []
        var isEnded = false
    }
    private let store: LoadedStore
    private let state = Mutex(State())
    private var token: UnsafeMutableRawPointer?

    init(_ store: LoadedStore, place: StorageNamespace, prefix: String) throws {
        guard let watching = store.abilities.watch else { throw StorageError(.unsupported, "the store has no watch") }
        self.store = store
        // Never released: a store that still reports after the end must fail the check, not crash.
        let context = Unmanaged.passRetained(self).toOpaque()
        var found: UnsafeMutableRawPointer?
        try Observation { _, error in
            var watcher = ld_watcher(
                size: UInt32(MemoryLayout<ld_watcher>.size), context: context, changed: tellWatch)
            return place.withBoundary { place in
                prefix.withBytes { watching.watch(store.table.`self`, place, $0, &watcher, &found, error) }
            }
        }.succeeded()
        token = found
    }

    /// The reported names, in order; an empty name stands for "anything may have changed".
    var told: [String] { state.withLock { $0.names } }

    /// Waits until the store has reported the name, or "anything"; `false` if that took too long.
    func hears(_ name: String, within time: Duration) -> Bool {
        let gate = Gate()
        let isTold = state.withLock { state in
            if state.names.contains(where: { $0.isEmpty || $0 == name }) { return true }
            state.waiting.append((name, gate))
            return false
        }
        return isTold || gate.wait(for: time)
    }

    /// Forgets the reported names.
    func forget() { state.withLock { $0.names = [] } }

    /// Ends the watch; call it once.
    func end() {
        let wasEnded = state.withLock { state in
            defer { state.isEnded = true }
            return state.isEnded
        }
        if !wasEnded { store.abilities.watch?.unwatch(store.table.`self`, token) }
    }

    fileprivate func tell(_ name: String) {
        state.withLock { state in
            state.names.append(name)
            for waiter in state.waiting where name.isEmpty || waiter.name == name { waiter.gate.open() }
        }
    }
}

private func tellWatch(context: UnsafeMutableRawPointer?, name: ld_bytes) {
    guard let context else { return }
    Unmanaged<BoundaryWatch>.fromOpaque(context).takeUnretainedValue().tell(name.lenientText)
}
