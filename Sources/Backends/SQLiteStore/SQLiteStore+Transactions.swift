package import LocalDataAPI

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
        let isThere =
            try transaction.read(key) { connection, place in
                try connection.value(place, key.name, version: &version, deliver)
            } ?? false
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
            try value.withUnsafeBytes { try connection.set(entry.key, to: $0.bytes, attributes) }
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
