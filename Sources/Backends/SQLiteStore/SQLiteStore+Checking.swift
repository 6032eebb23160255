package import LocalDataAPI

/// Looks at the database of the places that name no folder: at its trees, as SQLite's `integrity_check` does, and
/// whether each value has its bytes.
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
