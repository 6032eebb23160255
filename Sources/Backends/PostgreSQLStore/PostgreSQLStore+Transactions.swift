package import LocalDataAPI
internal import Synchronization

/// Transactions keep their changes in memory until they commit, so nobody waits for an open transaction and it uses no
/// connection. The commit is refused if a value that it read or changed has changed since.
extension PostgreSQLStore: TransactionalBackend {
    package func begin() throws -> Transaction { Transaction() }

    package func get(
        _ key: PostgreSQLKey, in transaction: Transaction, _ deliver: (RawSpan) -> Void
    ) throws -> Bool {
        switch transaction.entry(key)?.change {
        case .set(let value, _):
            value.withUnsafeBytes { deliver($0.bytes) }
            return true
        case .remove: return false
        case nil: break
        }
        var value: StoredValue?
        do { value = try self.value(key) { deliver($1) } } catch is ValueExpired {}
        transaction.noteSeen(key, value?.revision)
        return value != nil
    }

    package func set(
        _ key: PostgreSQLKey, to value: RawSpan, attributes: ValueAttributes?, in transaction: Transaction
    ) throws {
        try check(value.byteCount)
        try note(key, in: transaction)
        transaction.stage(key, .set(value.withUnsafeBytes { Array($0) }, attributes))
    }

    package func remove(_ key: PostgreSQLKey, in transaction: Transaction) throws -> Bool {
        let seen = try note(key, in: transaction)
        let wasThere =
            switch transaction.entry(key)?.change {
            case .set: true
            case .remove: false
            case nil: seen != nil
            }
        transaction.stage(key, .remove)
        return wasThere
    }

    package func commit(_ transaction: Transaction) throws {
        // In one order for all, so that two transactions do not wait for each other.
        let entries = transaction.end().sorted { $0.key.sorts(before: $1.key) }
        guard let first = entries.first else { return }
        var copies: [UnsafeMutableRawBufferPointer] = []
        defer { for copy in copies { copy.wipe() } }
        let writes = entries.map { entry in
            let condition = entry.revision.map { Write.Condition.revision($0) } ?? .absent
            switch entry.change {
            case .remove: return Write(entry.key, .remove, if: condition)
            case nil: return Write(entry.key, .keep, if: condition)
            case .set(let value, let attributes):
                let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, value.count), alignment: 1)
                copy.copyBytes(from: value)
                copies.append(copy)
                return Write(
                    entry.key, .set(UnsafeRawBufferPointer(rebasing: copy[..<value.count]), attributes), if: condition)
            }
        }
        let changed = try change(writes, "committing a transaction in '\(first.key.place)'")
        if let index = changed.failed.first { throw Self.conflict(entries[index].key) }
    }

    package func rollback(_ transaction: Transaction) { _ = transaction.end() }

    /// Records a value's state before the transaction changes it; returns its revision, `nil` if there is no value.
    @discardableResult
    private func note(_ key: PostgreSQLKey, in transaction: Transaction) throws -> Int64? {
        if let known = transaction.entry(key) { return known.revision }
        let revision: Int64? = try pool.read("reading '\(key.address)'") { link, deadline in
            do { return try row(.revision, key, link, deadline)?.integer(1) } catch is ValueExpired { return nil }
        }
        transaction.noteSeen(key, revision)
        return revision
    }

    private static func conflict(_ key: PostgreSQLKey) -> StorageError {
        StorageError(
            .busy, "a value in '\(key.place)' that the transaction used was changed meanwhile",
            hint: "run the transaction again")
    }
}

/// An open transaction: the revisions of the values that it has seen, and its changes.
package final class Transaction: Sendable {
    /// A staged change.
    enum Staged {
        case set([UInt8], ValueAttributes?)
        case remove
    }

    /// A value that the transaction has seen.
    struct Entry {
        let key: PostgreSQLKey
        /// The revision when it was first seen; `nil` if there was no value.
        let revision: Int64?
        var change: Staged?
    }

    private let entries = Mutex<[PostgreSQLKey: Entry]>([:])

    /// The transaction's entry for a value; `nil` if it has not seen it.
    func entry(_ key: PostgreSQLKey) -> Entry? { entries.withLock { $0[key] } }

    /// Changes a value that was seen before.
    func stage(_ key: PostgreSQLKey, _ change: Staged) { entries.withLock { $0[key]?.change = change } }

    /// Records the revision of a value when it is first seen; `nil` if there is no value.
    func noteSeen(_ key: PostgreSQLKey, _ revision: Int64?) {
        entries.withLock { entries in
            if entries[key] == nil { entries[key] = Entry(key: key, revision: revision, change: nil) }
        }
    }

    /// Returns and forgets all entries.
    func end() -> [Entry] {
        entries.withLock { entries in
            defer { entries = [:] }
            return Array(entries.values)
        }
    }
}
