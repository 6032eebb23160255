import DurableFiles

/// A database as of the first read here, whatever changes meanwhile; used by one thread at a time. It takes the read
/// locks once for all reads. As long as it lives, the log cannot restart.
final class Snapshot: Sendable {
    private let connection: DatabaseConnection
    private let readers: Readers

    /// - Parameter readers: The pool that the connection returns to.
    init(_ connection: DatabaseConnection, of readers: Readers) throws {
        self.connection = connection
        self.readers = readers
        if !connection.isFrozen { try connection.statement(.beginReading).run() }
    }

    deinit {
        connection.endReading()
        readers.give(connection)
    }

    @inline(__always)
    func read<Result>(_ body: (DatabaseConnection) throws -> Result) throws -> Result { try body(connection) }
}

/// The checksum column of a row: in the upper half the CRC-32C of the value's bytes, in the lower half the lower half
/// of the row's `version`. A program that does not know checksums changes the version and leaves the column as it is;
/// then its value is not compared with the checksum of another value.
enum RowChecksum {
    /// The column for a value.
    static func number(_ content: Checksum, version: Int64) -> Int64 {
        Int64(bitPattern: UInt64(content.value) << 32 | lower(version))
    }

    /// The checksum of a value with this version; `nil` if it is unknown.
    @inline(__always)
    static func checksum(in number: Int64?, version: Int64) -> UInt32? {
        guard let number, lower(number) == lower(version) else { return nil }
        return UInt32(UInt64(bitPattern: number) >> 32)
    }

    private static func lower(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) & 0xffff_ffff }
}
