/// A store with transactions. Ability `localdata.store.transactions/1`.
public protocol TransactionalBackend: StorageBackend {
    /// A transaction under way. It is used by one thread at a time.
    associatedtype Transaction: Sendable

    /// Begins a transaction.
    func begin() throws -> Transaction
    /// As `get`, but with the transaction's own changes.
    func get(_ key: Key, in transaction: Transaction, _ deliver: (RawSpan) -> Void) throws -> Bool
    /// As `set`, but visible only to the transaction until it commits.
    func set(_ key: Key, to value: RawSpan, attributes: ValueAttributes?, in transaction: Transaction) throws
    /// As `remove`, but visible only to the transaction until it commits.
    func remove(_ key: Key, in transaction: Transaction) throws -> Bool
    /// Makes the changes take effect, all or none, and ends the transaction. Throws `busy` if a value that it read or
    /// changed was changed by another meanwhile.
    func commit(_ transaction: Transaction) throws
    /// Ends the transaction without effect.
    func rollback(_ transaction: Transaction)
}
