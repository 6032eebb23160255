import Glibc
import LocalDataPluginAPI
import Synchronization

/// Transactions keep their changes in memory until they commit, so nobody waits for an open transaction. All reads are
/// as of the transaction's first read. The commit is refused if a value that it read or changed has changed since.
extension SQLiteStore: TransactionalBackend {
    func begin() throws -> Transaction { Transaction() }

    func get(_ key: SQLiteKey, in transaction: Transaction, _ deliver: (RawSpan) -> Void) throws -> Bool {
        try transaction.staged.get(key, deliver) {
            var version: Int64?
            _ = try transaction.read(key) { connection, place in
                try connection.value(place, key.name, version: &version, deliver)
            }
            return version
        }
    }

    func set(
        _ key: SQLiteKey, to value: RawSpan, attributes: ValueAttributes?, in transaction: Transaction
    ) throws {
        try check(value.byteCount)
        try transaction.staged.set(key, to: value, attributes: attributes) { try transaction.version(key) }
    }

    func remove(_ key: SQLiteKey, in transaction: Transaction) throws -> Bool {
        try transaction.staged.remove(key) { try transaction.version(key) }
    }

    func commit(_ transaction: Transaction) throws {
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
    private static func make(_ entry: StagedChanges<SQLiteKey>.Entry, _ connection: ChangeTransaction) throws -> Bool {
        switch (entry.change, entry.revision) {
        case (.set(let value, let attributes), nil):
            return try value.withUnsafeBytes { try connection.add(entry.key, $0.bytes, attributes) }
        case (.remove, let version?): return try connection.remove(entry.key, of: version)
        case (.set(let value, let attributes), let version):
            guard try connection.version(of: entry.key) == version else { return false }
            _ = try value.withUnsafeBytes { try connection.set(entry.key, to: $0.bytes, attributes) }
            return true
        case (.remove, nil), (nil, _): return try connection.version(of: entry.key) == entry.revision
        }
    }

    func rollback(_ transaction: Transaction) { _ = transaction.end() }

    /// The commit of a read-only transaction: at one moment, everything is as it saw it.
    private func expectUnchanged(_ seen: [StagedChanges<SQLiteKey>.Entry], in database: Database) throws {
        let isChanged =
            try database.read { connection in
                try connection.snapshot {
                    try seen.first { entry in
                        guard let place = try entry.key.place.number(connection) else { return entry.revision != nil }
                        return try connection.version(place, entry.key.name) != entry.revision
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

/// An open transaction: its changes, and a snapshot for its reads.
final class Transaction: Sendable {
    let staged = StagedChanges<SQLiteKey>()
    /// A snapshot of the first database that the transaction read.
    private let first = Mutex<(database: Database, snapshot: Snapshot)?>(nil)

    /// Reads with the number of the key's namespace, as of the transaction's first read; `nil` if there is no database
    /// or it does not contain the namespace.
    func read<Result>(_ key: SQLiteKey, _ body: (DatabaseConnection, Int64) throws -> Result) throws -> Result? {
        guard let snapshot = try snapshot(of: key.database) else { return try key.read(body) }
        return try snapshot.read { connection in
            guard let number = try key.place.number(connection) else { return nil }
            return try body(connection, number)
        }
    }

    /// The mark of a value; `nil` if it is absent.
    func version(_ key: SQLiteKey) throws -> Int64? {
        try read(key) { connection, place in try connection.version(place, key.name) } ?? nil
    }

    private func snapshot(of database: Database) throws -> Snapshot? {
        try first.withLock { first in
            if let (known, snapshot) = first { return known === database ? snapshot : nil }
            guard let snapshot = try database.snapshot() else { return nil }
            first = (database, snapshot)
            return snapshot
        }
    }

    /// Returns and forgets all changes, and the snapshot.
    func end() -> [StagedChanges<SQLiteKey>.Entry] {
        first.withLock { $0 = nil }
        return staged.end()
    }
}

/// Two handles of one address are one value.
extension SQLiteKey: Hashable {
    static func == (left: SQLiteKey, right: SQLiteKey) -> Bool {
        guard left !== right else { return true }
        guard left.place === right.place, left.name.count == right.name.count else { return false }
        guard let start = left.name.baseAddress, let other = right.name.baseAddress else { return true }
        return memcmp(start, other, left.name.count) == 0
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(place))
        hasher.combine(bytes: name)
    }
}
