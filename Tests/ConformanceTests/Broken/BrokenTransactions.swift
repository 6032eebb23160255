import FoundationEssentials
import LocalDataAPI
import LocalDataTesting
import Synchronization

enum BrokenTransactions {
    typealias Transaction = InMemoryTransaction

    /// The additional state of a broken store's transactions.
    class Remembering: CorrectStore, @unchecked Sendable {
        let remembered = Mutex<[ObjectIdentifier: [StorageAddress: Data]]>([:])
        private let isLastOfMany = Atomic<Bool>(false)

        /// Whether the last change was part of a bulk change.
        var wasLastOfMany: Bool { isLastOfMany.load(ordering: .relaxed) }

        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            isLastOfMany.store(false, ordering: .relaxed)
            try super.set(key, to: value, attributes: attributes)
        }

        override func apply(_ changes: BulkChanges) throws -> [Int] {
            isLastOfMany.store(true, ordering: .relaxed)
            return try super.apply(changes)
        }

        func remember(_ data: Data, _ key: StorageAddress, _ transaction: Transaction) {
            remembered.withLock { $0[ObjectIdentifier(transaction), default: [:]][key] = data }
        }

        func forget(_ transaction: Transaction) -> [StorageAddress: Data] {
            remembered.withLock { $0.removeValue(forKey: ObjectIdentifier(transaction)) } ?? [:]
        }
    }

    final class ReadsPast: CorrectStore, @unchecked Sendable {
        override func get(
            _ key: StorageAddress, in transaction: Transaction, _ deliver: (RawSpan) -> Void
        ) throws -> Bool {
            _ = try super.get(key, in: transaction) { _ in }
            return try super.get(key, deliver)
        }
    }

    final class ShowsItEarly: CorrectStore, @unchecked Sendable {
        private let underWay = Mutex<[ObjectIdentifier: Transaction]>([:])

        override func begin() throws -> Transaction {
            let transaction = try super.begin()
            underWay.withLock { $0[ObjectIdentifier(transaction)] = transaction }
            return transaction
        }

        override func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) throws -> Bool {
            guard let transaction = underWay.withLock({ $0.values.first }) else { return try super.get(key, deliver) }
            return try super.get(key, in: transaction, deliver)
        }

        override func commit(_ transaction: Transaction) throws {
            underWay.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(transaction)) }
            try super.commit(transaction)
        }

        override func rollback(_ transaction: Transaction) {
            underWay.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(transaction)) }
        }
    }

    final class LosesRemoves: Remembering, @unchecked Sendable {
        override func remove(_ key: StorageAddress, in transaction: Transaction) throws -> Bool {
            _ = try super.get(key) { span in remember(span.withUnsafeBytes { Data($0) }, key, transaction) }
            return try super.remove(key, in: transaction)
        }

        override func commit(_ transaction: Transaction) throws {
            try super.commit(transaction)
            for (key, data) in forget(transaction) { try super.set(key, to: data.bytes, attributes: nil) }
        }
    }

    final class CommitsAtRollback: CorrectStore, @unchecked Sendable {
        override func rollback(_ transaction: Transaction) { try? super.commit(transaction) }
    }

    /// Commits over single changes of others; a subclass does so over bulk changes.
    class LastCommitWins: Remembering, @unchecked Sendable {
        var winsOverMany: Bool { false }

        override func set(
            _ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?, in transaction: Transaction
        ) throws {
            remember(value.withUnsafeBytes { Data($0) }, key, transaction)
            try super.set(key, to: value, attributes: attributes, in: transaction)
        }

        override func commit(_ transaction: Transaction) throws {
            let changes = forget(transaction)
            do { try super.commit(transaction) } catch let error as StorageError where error.code == .busy {
                guard wasLastOfMany == winsOverMany else { throw error }
                for (key, data) in changes { try super.set(key, to: data.bytes, attributes: nil) }
            }
        }
    }

    final class WinsOverMany: LastCommitWins, @unchecked Sendable {
        override var winsOverMany: Bool { true }
    }
}
