import LocalDataAPI

/// The name of a value in a change.
protocol ValueName {
    var place: Place { get }
    var name: UnsafeRawBufferPointer { get }
}

/// A name that is lent for the duration of a change.
struct LentName: ValueName {
    let place: Place
    let name: UnsafeRawBufferPointer
}

/// A resolved address: its namespace, and the name's bytes, ready to be bound.
package final class SQLiteKey: ValueName, Sendable {
    let place: Place
    nonisolated(unsafe) let name: UnsafeRawBufferPointer

    var database: Database { place.database }

    init(place: Place, name: String) {
        self.place = place
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: name.utf8.count, alignment: 1)
        bytes.copyBytes(from: name.utf8)
        self.name = UnsafeRawBufferPointer(bytes)
    }

    deinit { name.deallocate() }

    /// Reads with the number of the namespace; `nil` if there is no database or it does not contain the namespace.
    @inline(__always)
    func read<Result>(_ body: (Connection, Int64) throws -> Result) throws -> Result? {
        try database.read { connection in
            guard let number = try place.number(connection) else { return nil }
            return try body(connection, number)
        } ?? nil
    }
}
