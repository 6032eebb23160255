import LocalDataAPI
import Synchronization

/// A namespace in a database, shared by all its keys. Its row is created with its first value and never removed, so
/// that its number can be cached.
final class Place: Sendable {
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

    /// The number of the namespace's row, through a connection that sees only committed data; `nil` if there is none.
    @inline(__always)
    func number(_ connection: Connection) throws -> Int64? {
        if let number = rememberedNumber { return number }
        guard let found = try connection.place(namespace) else { return nil }
        remember(found)
        return found
    }
}
