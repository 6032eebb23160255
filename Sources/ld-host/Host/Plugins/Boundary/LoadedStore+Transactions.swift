internal import CLocalData
package import FoundationEssentials
package import LocalDataAPI

/// A transaction of an open store, used by one thread at a time and ended once.
package struct StoreTransaction: @unchecked Sendable {
    // The pointer is opaque to the host; the caller keeps to one thread at a time.
    let pointer: UnsafeMutableRawPointer?
    /// What it changes.
    let changed = Changed()

    final class Changed {
        var addresses: [StorageAddress] = []
    }
}

extension LoadedStore {
    /// Begins a transaction, which exactly one of ``commit(_:)`` and ``rollback(_:)`` ends.
    ///
    /// - Throws: `unsupported` if the store has no transactions, and whatever the store reports.
    package func begin() throws(StorageError) -> StoreTransaction {
        var pointer: UnsafeMutableRawPointer?
        let transactions = try transactions
        _ = try site("transaction begin").call { transactions.begin(table.`self`, &pointer, $0) }
        return StoreTransaction(pointer: pointer)
    }

    /// The value as the transaction sees it, or `nil` if absent.
    package func get(
        _ handle: StoreHandle, in transaction: StoreTransaction
    ) throws(StorageError) -> Data? {
        let transactions = try transactions
        return try site("transaction get").value(.found) { sink, error in
            transactions.get(table.`self`, transaction.pointer, handle.pointer, sink, error)
        }
    }

    /// Stores a value that only the transaction sees until it commits.
    package func set(
        _ handle: StoreHandle, to value: Data, attributes: ValueAttributes? = nil, in transaction: StoreTransaction
    ) throws(StorageError) {
        let transactions = try transactions
        try checkSize(value.count)
        try checkExpiry(attributes)
        transaction.changed.addresses.append(handle.address)
        _ = try site("transaction set").call { error in
            value.withUnsafeBytes { buffer in
                let bytes = ld_bytes(data: buffer.baseAddress, count: buffer.count)
                func call(_ attributes: UnsafePointer<ld_attributes>?) -> Int32 {
                    transactions.set(
                        table.`self`, transaction.pointer, handle.pointer, bytes, attributes, error)
                }
                return attributes.map { $0.withBoundary { call($0) } } ?? call(nil)
            }
        }
    }

    /// Removes the value for the transaction; `false` if there was none.
    package func remove(_ handle: StoreHandle, in transaction: StoreTransaction) throws(StorageError) -> Bool {
        let transactions = try transactions
        transaction.changed.addresses.append(handle.address)
        return try site("transaction remove").call(.found) {
            transactions.remove(table.`self`, transaction.pointer, handle.pointer, $0)
        } == LD_OK
    }

    /// Applies the changes, all or none, and ends the transaction in either case.
    ///
    /// - Throws: `busy` if another writer changed a value that the transaction read or changed.
    package func commit(_ transaction: StoreTransaction) throws(StorageError) {
        let transactions = try transactions
        var isEnded = false
        do throws(StorageError) {
            _ = try passing({ transaction.changed.addresses }) { () throws(StorageError) in
                isEnded = true
                return try site("transaction commit").call {
                    transactions.commit(table.`self`, transaction.pointer, $0)
                }
            }
        } catch {
            if !isEnded { rollback(transaction) }
            throw error
        }
    }

    /// Ends the transaction without effect.
    package func rollback(_ transaction: StoreTransaction) {
        site("transaction rollback").plain { abilities.transactions?.rollback(table.`self`, transaction.pointer) }
    }

    private var transactions: ld_store_transactions {
        get throws(StorageError) {
            guard let transactions = abilities.transactions else { throw lacks("transactions") }
            return transactions
        }
    }
}
