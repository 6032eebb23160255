package import LocalDataAPI

/// Checks the database of the namespaces without a folder: its trees, as SQLite's `integrity_check` does, and the
/// checksum of each value.
extension SQLiteStore: CheckableBackend {
    package func check(_ report: (String) -> Bool) throws { _ = try main.read { try $0.check(report) } }
}

extension SQLiteStore: VerifiableBackend {
    package func verify(_ key: SQLiteKey) throws -> ValueState? {
        try key.read { connection, place in try connection.pieces(place, key.name) { _ in true } } ?? nil
    }
}

extension SQLiteStore: WipingBackend {
    package func wipe(_ place: StorageNamespace) throws { try database(of: place).wipe() }
}
