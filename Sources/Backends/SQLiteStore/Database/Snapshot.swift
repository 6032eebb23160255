/// A database as it is when it is first read here, whatever is changed meanwhile; used by one thread at a time. The
/// locks that each reading by itself would take are taken once. As long as it lives, the log is not restarted.
final class Snapshot: Sendable {
    private let connection: Connection
    private let readers: Readers

    /// - Parameter readers: Who gets the connection back.
    init(_ connection: Connection, of readers: Readers) throws {
        self.connection = connection
        self.readers = readers
        try connection.statement(.beginReading).run()
    }

    deinit {
        connection.endReading()
        readers.give(connection)
    }

    @inline(__always)
    func read<Result>(_ body: (Connection) throws -> Result) throws -> Result { try body(connection) }
}
