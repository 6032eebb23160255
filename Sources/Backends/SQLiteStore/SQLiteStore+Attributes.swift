package import LocalDataAPI

extension SQLiteStore: AttributedBackend {
    package func attributes(of key: SQLiteKey) throws -> ValueAttributes? {
        try key.read { connection, place in try connection.attributes(place, key.name) } ?? nil
    }
}
