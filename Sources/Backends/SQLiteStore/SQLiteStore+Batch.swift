internal import FoundationEssentials
package import LocalDataAPI

extension SQLiteStore: BatchBackend {
    package func apply(_ changes: [StorageChange<SQLiteKey>]) throws {
        guard let database = try commonDatabase(of: changes.lazy.map(\.key)) else { return }
        for index in changes.indices { try check(changes[index].value?.count ?? 0) }
        let stored = changes.lazy.compactMap { $0.value?.count }
        try database.write(adding: stored.isEmpty ? nil : stored.reduce(0, +)) { connection in
            for change in changes {
                if let value = change.value {
                    try value.withUnsafeBytes { try connection.set(change.key, to: $0.bytes, change.attributes) }
                } else {
                    _ = try connection.remove(change.key)
                }
            }
        }
        database.changes.tell(changes.lazy.map(\.key))
    }

    /// The database that all keys are in; `nil` if there are none.
    ///
    /// - Throws: `unsupported` if there are two: no two files change at once.
    func commonDatabase(of keys: some Collection<SQLiteKey>) throws -> Database? {
        try commonDatabase(of: keys.lazy.map(\.place))
    }

    /// The database of all these places.
    func commonDatabase(of places: some Collection<Place>) throws -> Database? {
        guard let first = places.first?.database else { return nil }
        if let other = places.first(where: { $0.database !== first })?.database {
            throw StorageError(
                .unsupported, "the changes are of two databases, '\(first.path)' and '\(other.path)'",
                hint: "change the values of a folder by themselves")
        }
        return first
    }
}
