import LocalDataPluginAPI
import Synchronization

/// The name of a value in a change.
protocol ValueName {
    var place: DatabasePlace { get }
    var name: UnsafeRawBufferPointer { get }
}

/// A name that is lent for the duration of a change.
struct LentName: ValueName {
    let place: DatabasePlace
    let name: UnsafeRawBufferPointer
}

/// A resolved address: its namespace, and the name's bytes, ready to be bound.
final class SQLiteKey: ValueName, Sendable {
    let place: DatabasePlace
    nonisolated(unsafe) let name: UnsafeRawBufferPointer

    var database: Database { place.database }

    init(place: DatabasePlace, name: String) {
        self.place = place
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: name.utf8.count, alignment: 1)
        bytes.copyBytes(from: name.utf8)
        self.name = UnsafeRawBufferPointer(bytes)
    }

    deinit { name.deallocate() }

    /// Reads with the number of the namespace; `nil` if there is no database or it does not contain the namespace.
    @inline(__always)
    func read<Result>(_ body: (DatabaseConnection, Int64) throws -> Result) throws -> Result? {
        try database.read { connection in
            guard let number = try place.number(connection) else { return nil }
            return try body(connection, number)
        } ?? nil
    }
}

/// How large values are split: a value that does not fit into its row is kept in rows of another table. So it can be
/// read and written in pieces, and neither a listing nor the search for another value passes over it.
enum ValueRows {
    /// The size of every piece but the last, in bytes.
    static let size = 256 << 10

    /// The largest name and value, in bytes, that stay in the value's row. If a row does not fit into a quarter of a
    /// page, SQLite copies all of it whenever it is compared during a search. Up to this size that costs no more than
    /// the rest of the search, and less than two rows.
    private static let largestRow = 4096

    /// Whether a value stays in its row.
    @inline(__always)
    static func isInRow(_ nameCount: Int, _ count: Int) -> Bool { nameCount + count <= largestRow }
}

/// A namespace in a database, shared by all its keys. Its row is created with its first value and never removed, so
/// that its number can be cached.
final class DatabasePlace: Sendable {
    let database: Database
    let namespace: StorageNamespace
    private let known = Atomic<Int64>(0)

    init(_ namespace: StorageNamespace, in database: Database) {
        self.namespace = namespace
        self.database = database
    }

    /// The cached number of the namespace's row.
    var rememberedNumber: Int64? {
        let number = known.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    /// Caches the number of a committed row.
    func remember(_ number: Int64) { known.store(number, ordering: .relaxed) }

    /// The number of the namespace's row, through a connection that sees only committed data; `nil` if absent.
    @inline(__always)
    func number(_ connection: DatabaseConnection) throws -> Int64? {
        if let number = rememberedNumber { return number }
        guard let found = try connection.place(namespace) else { return nil }
        remember(found)
        return found
    }
}
