package import LocalDataAPI

/// Transactions keep their changes to themselves until they commit, so that nobody waits for a transaction under way.
/// The commit is refused if a value that was read or changed is another by then.
extension SQLiteStore: TransactionalBackend {
    package func begin() throws -> Transaction { Transaction() }

    package func get(_ key: SQLiteKey, in transaction: Transaction, _ deliver: (RawSpan) -> Void) throws -> Bool {
        switch transaction.staged(key) {
        case .set(let value, _):
            value.withUnsafeBytes { deliver($0.bytes) }
            return true
        case .remove: return false
        case nil: break
        }
        var version: Int64?
        let isThere =
            try key.read { connection, place in
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
            switch transaction.staged(key) {
            case .set: true
            case .remove: false
            case nil: seen != nil
            }
        transaction.stage(key, .remove)
        return wasThere
    }

    package func commit(_ transaction: Transaction) throws {
        let (seen, changes) = transaction.end()
        guard let database = try commonDatabase(of: seen.map(\.key)) else { return }
        guard !changes.isEmpty else { return try expectUnchanged(seen, in: database) }
        try database.write { connection in
            for (key, version) in seen where try connection.version(of: key) != version { throw Self.conflict(key) }
            for (key, change) in changes {
                switch change {
                case .set(let value, let attributes):
                    try value.withUnsafeBytes { try connection.set(key, to: $0.bytes, attributes) }
                case .remove: _ = try connection.remove(key)
                }
            }
        }
        database.changes.tell(changes.lazy.map(\.key))
    }

    package func rollback(_ transaction: Transaction) { _ = transaction.end() }

    /// Remembers what a value is before the transaction changes it; gives its mark, `nil` if there is no value.
    @discardableResult
    private func note(_ key: SQLiteKey, in transaction: Transaction) throws -> Int64? {
        let version = try key.read { connection, place in try connection.version(place, key.name) } ?? nil
        transaction.noteSeen(key, version)
        return version
    }

    /// The commit of a transaction that only read: as of one moment, all is as it saw it.
    private func expectUnchanged(_ seen: [(key: SQLiteKey, version: Int64?)], in database: Database) throws {
        let isChanged =
            try database.read { connection in
                try connection.snapshot {
                    try seen.first { key, version in
                        guard let place = try key.place.number(connection) else { return version != nil }
                        return try connection.version(place, key.name) != version
                    }
                }
            } ?? nil
        if let isChanged { throw Self.conflict(isChanged.key) }
    }

    private static func conflict(_ key: SQLiteKey) -> StorageError {
        StorageError(
            .busy, "a value in '\(key.place.namespace)' that the transaction used was changed by another meanwhile",
            hint: "run the transaction again")
    }
}
