import LocalDataPluginAPI

/// Transactions keep their changes in memory until they commit, so nobody waits for an open transaction and it uses no
/// connection. The commit is refused if a value that it read or changed has changed since.
extension PostgreSQLStore: TransactionalBackend {
    func begin() throws -> StagedChanges<PostgreSQLKey> { StagedChanges() }

    func get(
        _ key: PostgreSQLKey, in transaction: StagedChanges<PostgreSQLKey>, _ deliver: (RawSpan) -> Void
    ) throws -> Bool {
        try transaction.get(key, deliver) { try value(key) { deliver($1) }?.revision }
    }

    func set(
        _ key: PostgreSQLKey, to value: RawSpan, attributes: ValueAttributes?,
        in transaction: StagedChanges<PostgreSQLKey>
    ) throws {
        try check(value.byteCount)
        try transaction.set(key, to: value, attributes: attributes) { try revision(key) }
    }

    func remove(_ key: PostgreSQLKey, in transaction: StagedChanges<PostgreSQLKey>) throws -> Bool {
        try transaction.remove(key) { try revision(key) }
    }

    func commit(_ transaction: StagedChanges<PostgreSQLKey>) throws {
        // In one order for all, so that two transactions do not wait for each other.
        let entries = transaction.end().sorted { $0.key.sorts(before: $1.key) }
        guard let first = entries.first else { return }
        var copies: [UnsafeMutableRawBufferPointer] = []
        defer { for copy in copies { copy.wipe() } }
        let writes = entries.map { entry in
            let condition = entry.revision.map { Write.Condition.revision($0) } ?? .absent
            switch entry.change {
            case .remove: return Write(entry.key, .remove, if: condition)
            case nil: return Write(entry.key, .keep, if: condition)
            case .set(let value, let attributes):
                let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, value.count), alignment: 1)
                copy.copyBytes(from: value)
                copies.append(copy)
                return Write(
                    entry.key, .set(UnsafeRawBufferPointer(rebasing: copy[..<value.count]), attributes), if: condition)
            }
        }
        let changed = try change(writes, "committing a transaction in '\(first.key.place)'")
        if let index = changed.failed.first { throw Self.conflict(entries[index].key) }
    }

    func rollback(_ transaction: StagedChanges<PostgreSQLKey>) { _ = transaction.end() }

    private func revision(_ key: PostgreSQLKey) throws -> Int64? {
        try pool.read("reading '\(key.address)'") { link, deadline in
            try row(.revision, key, link, deadline)?.integer(1)
        }
    }

    private static func conflict(_ key: PostgreSQLKey) -> StorageError {
        StorageError(
            .busy, "a value in '\(key.place)' that the transaction used was changed meanwhile",
            hint: "run the transaction again")
    }
}
