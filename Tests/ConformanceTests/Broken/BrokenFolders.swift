import FoundationEssentials
import LocalDataAPI
import LocalDataTesting

/// Stores that keep folders apart but do not declare it.
enum BrokenFolders {
    final class RefusesBatches: CorrectStore, @unchecked Sendable {
        override func apply(_ changes: [StorageChange<StorageAddress>]) throws {
            try expectOne(changes.map(\.key))
            try super.apply(changes)
        }
    }

    final class RefusesTransactions: BrokenTransactions.Remembering, @unchecked Sendable {
        override func set(
            _ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?, in transaction: InMemoryTransaction
        ) throws {
            remember(Data(), key, transaction)
            try super.set(key, to: value, attributes: attributes, in: transaction)
        }

        override func commit(_ transaction: InMemoryTransaction) throws {
            try expectOne(forget(transaction).keys)
            try super.commit(transaction)
        }

        override func rollback(_ transaction: InMemoryTransaction) {
            _ = forget(transaction)
            super.rollback(transaction)
        }
    }

    final class RefusesMany: CorrectStore, @unchecked Sendable {
        override func apply(_ changes: BulkChanges) throws -> [Int] {
            let all = try InMemoryChange.all(of: changes)
            try expectOne(all.map(\.key))
            return try make(all)
        }
    }
}

private func expectOne(_ keys: some Collection<StorageAddress>) throws {
    guard Set(keys.map(\.place.directory)).count > 1 else { return }
    throw StorageError(.unsupported, "the values are of several folders")
}
