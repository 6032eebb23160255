import DurableFiles
package import LocalDataAPI
import Synchronization

/// Transactions keep their changes in memory until they commit, so nobody waits for an open transaction. The commit is
/// a batch that is applied only if every file that the transaction has read is unchanged.
///
/// Reads are not from one moment. A transaction that read one value before a change and another one after it cannot
/// commit.
extension FileStore: TransactionalBackend {
    /// Begins after every committed batch: one whose owner has died is completed first, so that no transaction sees a
    /// part of it.
    package func begin() throws -> FileTransaction {
        try batches.settle()
        return FileTransaction()
    }

    package func get(_ key: FileKey, in transaction: FileTransaction, _ deliver: (RawSpan) -> Void) throws -> Bool {
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
        if try StoredAttributes.recorded(of: file)?.isExpired ?? false { return false }
        try file.read(deliver)
        return true
    }

    package func set(
        _ key: FileKey, to value: RawSpan, attributes: ValueAttributes?, in transaction: FileTransaction
    ) throws {
        let attribute = try attribute(attributes, of: key)
        try note(key, in: transaction)
        transaction.stage(key, .set(value.withUnsafeBytes { Array($0) }, attribute))
    }

    package func remove(_ key: FileKey, in transaction: FileTransaction) throws -> Bool {
        let wasThere = try note(key, in: transaction)
        transaction.stage(key, .remove)
        return wasThere
    }

    package func commit(_ transaction: FileTransaction) throws {
        let entries = transaction.end()
        let changes = entries.compactMap { entry -> BatchChange? in
            switch entry.change {
            case .set(let value, let attribute):
                BatchChange(in: entry.key.place, entry.key.path, attribute: attribute) { take in
                    try value.withUnsafeBytes { try take($0) }
                }
            case .remove: BatchChange(in: entry.key.place, entry.key.path, content: nil)
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

    package func rollback(_ transaction: FileTransaction) { _ = transaction.end() }

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
        return try !(StoredAttributes.recorded(of: file)?.isExpired ?? false)
    }
}

/// An open transaction: the states of the files that it has read, and its changes, in memory.
package final class FileTransaction: Sendable {
    /// A staged change.
    enum Staged {
        case set([UInt8], FileAttribute?)
        case remove
    }

    /// A value that the transaction has read or changed.
    struct Entry {
        let key: FileKey
        /// Its state when the transaction first accessed it.
        let expectation: FileExpectation
        var change: Staged?
    }

    /// Two handles of one address are one value. A store's keys share folder objects, so one folder is one object.
    private struct Name: Hashable {
        let place: ObjectIdentifier
        let path: RelativePath.Identity

        init(_ key: FileKey) {
            place = ObjectIdentifier(key.place)
            path = key.path.identity
        }
    }

    private struct State {
        var entries: [Entry] = []
        var indices: [Name: Int] = [:]
    }

    private let state = Mutex(State())

    /// The transaction's entry for a value; `nil` if it has not accessed it.
    func entry(_ key: FileKey) -> Entry? {
        state.withLock { state in state.indices[Name(key)].map { state.entries[$0] } }
    }

    /// Records a value's state at the first access.
    func note(_ key: FileKey, _ expectation: FileExpectation) {
        state.withLock { state in
            let name = Name(key)
            guard state.indices[name] == nil else { return }
            state.indices[name] = state.entries.count
            state.entries.append(Entry(key: key, expectation: expectation, change: nil))
        }
    }

    /// Changes a value that was accessed before.
    func stage(_ key: FileKey, _ change: Staged) {
        state.withLock { state in
            if let index = state.indices[Name(key)] { state.entries[index].change = change }
        }
    }

    /// Returns and forgets all entries, in the order of the first access.
    func end() -> [Entry] {
        state.withLock { state in
            defer { state = State() }
            return state.entries
        }
    }
}
