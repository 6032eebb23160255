import LocalDataAPI
import Synchronization

/// A transaction under way: the marks of the values that it has seen, and its changes.
package final class Transaction: Sendable {
    /// What becomes of a value.
    enum Staged {
        case set([UInt8], ValueAttributes?)
        case remove
    }

    /// Two handles of one address are one value.
    private struct Name: Hashable {
        let place: ObjectIdentifier
        let bytes: [UInt8]

        init(_ key: SQLiteKey) {
            place = ObjectIdentifier(key.place)
            bytes = Array(key.name)
        }
    }

    private struct State {
        var seen: [Name: (key: SQLiteKey, version: Int64?)] = [:]
        var changes: [Name: (key: SQLiteKey, change: Staged)] = [:]
    }

    private let state = Mutex(State())

    /// What the transaction has made of a value; `nil` if it has not changed it.
    func staged(_ key: SQLiteKey) -> Staged? { state.withLock { $0.changes[Name(key)]?.change } }

    /// Changes a value for the transaction.
    func stage(_ key: SQLiteKey, _ change: Staged) { state.withLock { $0.changes[Name(key)] = (key, change) } }

    /// Remembers the mark of a value as it was first seen; `nil` stands for no value.
    func noteSeen(_ key: SQLiteKey, _ version: Int64?) {
        state.withLock { state in
            let name = Name(key)
            if state.seen[name] == nil { state.seen[name] = (key, version) }
        }
    }

    /// What was seen and changed; nothing of it is kept.
    func end() -> (seen: [(key: SQLiteKey, version: Int64?)], changes: [(key: SQLiteKey, change: Staged)]) {
        state.withLock { state in
            defer { state = State() }
            return (Array(state.seen.values), Array(state.changes.values))
        }
    }
}
