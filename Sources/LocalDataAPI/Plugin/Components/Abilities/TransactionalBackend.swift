/// A store with transactions. Ability `localdata.store.transactions/1`.
public protocol TransactionalBackend: StorageBackend {
    /// An open transaction, used by one thread at a time.
    associatedtype Transaction: Sendable

    /// Begins a transaction.
    func begin() throws -> Transaction
    /// As `get`, but sees the transaction's own changes.
    func get(_ key: Key, in transaction: Transaction, _ deliver: (RawSpan) -> Void) throws -> Bool
    /// As `set`, but only the transaction sees the change until it commits.
    func set(_ key: Key, to value: RawSpan, attributes: ValueAttributes?, in transaction: Transaction) throws
    /// As `remove`, but only the transaction sees the change until it commits.
    func remove(_ key: Key, in transaction: Transaction) throws -> Bool
    /// Applies the changes, all or none, and ends the transaction. Throws `busy` if another writer changed a value that
    /// it read or changed.
    func commit(_ transaction: Transaction) throws
    /// Ends the transaction without effect.
    func rollback(_ transaction: Transaction)
}
