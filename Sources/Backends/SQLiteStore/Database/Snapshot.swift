/// A database as of the first read here, whatever changes meanwhile; used by one thread at a time. It takes the read
/// locks once for all reads. As long as it lives, the log cannot restart.
final class Snapshot: Sendable {
    private let connection: Connection
    private let readers: Readers

    /// - Parameter readers: The pool that the connection returns to.
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
