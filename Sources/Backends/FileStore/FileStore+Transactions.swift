import DurableFiles
import LocalDataPluginAPI

/// Transactions keep their changes in memory until they commit, so nobody waits for an open transaction. The commit is
/// a batch that is applied only if every file that the transaction has read is unchanged.
///
/// Reads are not from one moment. A transaction that read one value before a change and another one after it cannot
/// commit.
extension FileStore: TransactionalBackend {
    /// Begins after every committed batch: one whose owner has died is completed first, so that no transaction sees a
    /// part of it.
    func begin() throws -> FileTransaction {
        try batches.settle()
        return FileTransaction()
    }

    func get(_ key: FileKey, in transaction: FileTransaction, _ deliver: (RawSpan) -> Void) throws -> Bool {
        switch transaction.entry(key)?.change {
        case .set(let value, _):
            value.withUnsafeBytes { deliver($0.bytes) }
            return true
        case .remove: return false
        case nil: break
        }
        guard let file = try key.place.open(key.path) else {
            transaction.note(key, FileExpectation(absent: key.path, in: key.place))
            return false
        }
        transaction.note(key, try FileExpectation(key.path, in: key.place, file))
        if try StoredAttributes.recorded(of: file).isExpired { return false }
        try file.read(deliver)
        return true
    }

    func set(
        _ key: FileKey, to value: RawSpan, attributes: ValueAttributes?, in transaction: FileTransaction
    ) throws {
        let attribute = try attribute(attributes, of: key)
        try note(key, in: transaction)
        transaction.stage(key, .set(value.withUnsafeBytes { Array($0) }, attribute))
    }

    func remove(_ key: FileKey, in transaction: FileTransaction) throws -> Bool {
        let wasThere = try note(key, in: transaction)
        transaction.stage(key, .remove)
        return wasThere
    }

    func commit(_ transaction: FileTransaction) throws {
        let entries = transaction.end()
        let changes = entries.compactMap { entry -> FileChange? in
            switch entry.change {
            case .set(let value, let attribute):
                FileChange(in: entry.key.place, entry.key.path, attribute: attribute) { take in
                    try value.withUnsafeBytes { try take($0) }
                }
            case .remove: FileChange(in: entry.key.place, entry.key.path, content: nil)
            case nil: nil
            }
        }
        let isDone = try batches.apply(changes, onlyIf: entries.map(\.expectation))
        guard isDone else {
            throw StorageError(
                .busy, "a value in '\(root.path)' that the transaction used was changed meanwhile",
                hint: "run the transaction again")
        }
    }

    func rollback(_ transaction: FileTransaction) { _ = transaction.end() }

    /// Records a value's state before the transaction changes it.
    ///
    /// - Returns: Whether the transaction sees a value there.
    @discardableResult
    private func note(_ key: FileKey, in transaction: FileTransaction) throws -> Bool {
        if let known = transaction.entry(key) {
            switch known.change {
            case .set: return true
            case .remove: return false
            case nil: return known.expectation.wasThere
            }
        }
        guard let file = try key.place.open(key.path) else {
            transaction.note(key, FileExpectation(absent: key.path, in: key.place))
            return false
        }
        transaction.note(key, try FileExpectation(key.path, in: key.place, file))
        return try !StoredAttributes.recorded(of: file).isExpired
    }
}
