import Glibc
import LocalDataAPI
import Synchronization

/// An open transaction: the marks of the values that it has seen, and its changes.
package final class Transaction: Sendable {
    /// A staged change.
    enum Staged {
        case set([UInt8], ValueAttributes?)
        case remove
    }

    /// A value that the transaction has seen.
    struct Entry {
        let key: SQLiteKey
        /// The mark when it was first seen; `nil` if there was no value.
        let version: Int64?
        var change: Staged?
    }

    /// Two handles of one address are one value.
    private struct Name: Hashable {
        let key: SQLiteKey

        static func == (left: Name, right: Name) -> Bool {
            guard left.key !== right.key else { return true }
            let (name, other) = (left.key.name, right.key.name)
            guard left.key.place === right.key.place, name.count == other.count else { return false }
            guard let start = name.baseAddress, let otherStart = other.baseAddress else { return true }
            return memcmp(start, otherStart, name.count) == 0
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(ObjectIdentifier(key.place))
            hasher.combine(bytes: key.name)
        }
    }

    private struct State {
        /// A snapshot of the first database that the transaction read.
        var snapshot: (database: Database, snapshot: Snapshot)?
        var entries: [Entry] = []
        var indices: [Name: Int] = [:]
    }

    private let state = Mutex(State())

    /// Reads with the number of the key's namespace, as of the transaction's first read; `nil` if there is no database
    /// or it does not contain the namespace.
    func read<Result>(_ key: SQLiteKey, _ body: (Connection, Int64) throws -> Result) throws -> Result? {
        guard let snapshot = try snapshot(of: key.database) else { return try key.read(body) }
        return try snapshot.read { connection in
            guard let number = try key.place.number(connection) else { return nil }
            return try body(connection, number)
        }
    }

    private func snapshot(of database: Database) throws -> Snapshot? {
        try state.withLock { state in
            if let (known, snapshot) = state.snapshot { return known === database ? snapshot : nil }
            guard let snapshot = try database.snapshot() else { return nil }
            state.snapshot = (database, snapshot)
            return snapshot
        }
    }

    /// The transaction's entry for a value; `nil` if it has not seen it.
    func entry(_ key: SQLiteKey) -> Entry? {
        state.withLock { state in state.indices[Name(key: key)].map { state.entries[$0] } }
    }

    /// Changes a value that was seen before.
    func stage(_ key: SQLiteKey, _ change: Staged) {
        state.withLock { state in
            if let index = state.indices[Name(key: key)] { state.entries[index].change = change }
        }
    }

    /// Records the mark of a value when it is first seen; `nil` if there is no value.
    func noteSeen(_ key: SQLiteKey, _ version: Int64?) {
        state.withLock { state in
            let name = Name(key: key)
            guard state.indices[name] == nil else { return }
            state.indices[name] = state.entries.count
            state.entries.append(Entry(key: key, version: version, change: nil))
        }
    }

    /// Returns and forgets all entries, in the order of the first access.
    func end() -> [Entry] {
        state.withLock { state in
            defer { state = State() }
            return state.entries
        }
    }
}
