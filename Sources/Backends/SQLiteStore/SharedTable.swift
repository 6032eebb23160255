import Synchronization

/// Objects in use, shared by name. An object is removed with its last user.
final class SharedTable<Name: Hashable & Sendable, Value: AnyObject & Sendable>: Sendable {
    private struct Entry {
        weak var value: Value?
    }

    private struct State {
        var entries: [Name: Entry] = [:]
        var sweepAt = 64
    }

    private let state = Mutex(State())

    /// The object with a name, created if nobody uses it yet.
    func value(_ name: Name, _ make: () -> Value) -> Value {
        state.withLock { state in
            if let kept = state.entries[name]?.value { return kept }
            if state.entries.count >= state.sweepAt {
                state.entries = state.entries.filter { $0.value.value != nil }
                state.sweepAt = max(64, 2 * state.entries.count)
            }
            let new = make()
            state.entries[name] = Entry(value: new)
            return new
        }
    }
}
