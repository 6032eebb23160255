import Glibc
package import LocalDataAPI
import Synchronization

/// Transactions keep their changes in memory until they commit, so nobody waits for an open transaction. All reads are
/// as of the transaction's first read. The commit is refused if a value that it read or changed has changed since.
extension SQLiteStore: TransactionalBackend {
    package func begin() throws -> Transaction { Transaction() }

    package func get(_ key: SQLiteKey, in transaction: Transaction, _ deliver: (RawSpan) -> Void) throws -> Bool {
        switch transaction.entry(key)?.change {
        case .set(let value, _):
            value.withUnsafeBytes { deliver($0.bytes) }
            return true
        case .remove: return false
        case nil: break
        }
        var version: Int64?
        let isThere: Bool
        do {
            isThere =
                try transaction.read(key) { connection, place in
                    try connection.value(place, key.name, version: &version, deliver)
                } ?? false
        } catch is ValueExpired { isThere = false }
        transaction.noteSeen(key, version)
        return isThere
    }

    package func set(
        _ key: SQLiteKey, to value: RawSpan, attributes: ValueAttributes?, in transaction: Transaction
    ) throws {
        try check(value.byteCount)
        try note(key, in: transaction)
        transaction.stage(key, .set(value.withUnsafeBytes { Array($0) }, attributes))
    }

    package func remove(_ key: SQLiteKey, in transaction: Transaction) throws -> Bool {
        let seen = try note(key, in: transaction)
        let wasThere =
            switch transaction.entry(key)?.change {
            case .set: true
            case .remove: false
            case nil: seen != nil
            }
        transaction.stage(key, .remove)
        return wasThere
    }

    package func commit(_ transaction: Transaction) throws {
        let entries = transaction.end()
        guard let database = try commonDatabase(of: entries.lazy.map(\.key)) else { return }
        let changed = entries.lazy.filter { $0.change != nil }.map(\.key)
        guard !changed.isEmpty else { return try expectUnchanged(entries, in: database) }
        let stored = entries.lazy.compactMap { entry -> Int? in
            if case .set(let value, _) = entry.change { value.count } else { nil }
        }
        try database.write(adding: stored.isEmpty ? nil : stored.reduce(0, +)) { connection in
            for entry in entries where try !Self.make(entry, connection) { throw Self.conflict(entry.key) }
        }
        database.changes.tell(changed)
    }

    /// Applies an entry's change, if it has one, to a value that is unchanged; `false` if it has changed.
    private static func make(_ entry: Transaction.Entry, _ connection: Change) throws -> Bool {
        switch (entry.change, entry.version) {
        case (.set(let value, let attributes), nil):
            return try value.withUnsafeBytes { try connection.add(entry.key, $0.bytes, attributes) }
        case (.remove, let version?): return try connection.remove(entry.key, of: version)
        case (.set(let value, let attributes), let version):
            guard try connection.version(of: entry.key) == version else { return false }
            _ = try value.withUnsafeBytes { try connection.set(entry.key, to: $0.bytes, attributes) }
            return true
        case (.remove, nil), (nil, _): return try connection.version(of: entry.key) == entry.version
        }
    }

    package func rollback(_ transaction: Transaction) { _ = transaction.end() }

    /// Records a value's state before the transaction changes it; returns its mark, `nil` if there is no value.
    @discardableResult
    private func note(_ key: SQLiteKey, in transaction: Transaction) throws -> Int64? {
        if let known = transaction.entry(key) { return known.version }
        let version = try transaction.read(key) { connection, place in try connection.version(place, key.name) } ?? nil
        transaction.noteSeen(key, version)
        return version
    }

    /// The commit of a read-only transaction: at one moment, everything is as it saw it.
    private func expectUnchanged(_ seen: [Transaction.Entry], in database: Database) throws {
        let isChanged =
            try database.read { connection in
                try connection.snapshot {
                    try seen.first { entry in
                        guard let place = try entry.key.place.number(connection) else { return entry.version != nil }
                        return try connection.version(place, entry.key.name) != entry.version
                    }
                }
            } ?? nil
        if let isChanged { throw Self.conflict(isChanged.key) }
    }

    private static func conflict(_ key: SQLiteKey) -> StorageError {
        StorageError(
            .busy, "a value in '\(key.place.namespace)' that the transaction used was changed meanwhile",
            hint: "run the transaction again")
    }
}

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
