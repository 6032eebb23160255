import LocalDataAPI
import Synchronization

/// A place in a database, shared by all its keys. Its row is made with its first value and stays, so that its number
/// can be remembered.
final class Place: Sendable {
    let database: Database
    let namespace: StorageNamespace
    private let known = Atomic<Int64>(0)

    init(_ namespace: StorageNamespace, in database: Database) {
        self.namespace = namespace
        self.database = database
    }

    /// The number of the place's row, if it is known.
    var rememberedNumber: Int64? {
        let number = known.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    /// Remembers the number of a row that is there to stay.
    func remember(_ number: Int64) { known.store(number, ordering: .relaxed) }

    /// The number of the place's row, by a connection that sees nothing which may yet be taken back; `nil` if there is
    /// none.
    @inline(__always)
    func number(_ connection: Connection) throws -> Int64? {
        if let number = rememberedNumber { return number }
        guard let found = try connection.place(namespace) else { return nil }
        remember(found)
        return found
    }
}
