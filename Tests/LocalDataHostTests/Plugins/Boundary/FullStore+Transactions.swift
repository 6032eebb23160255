import FoundationEssentials
import LocalDataAPI
import Synchronization

extension FullStore: TransactionalBackend {
    final class Transaction: Sendable {
        struct Change: Sendable {
            let data: Data?
            let attributes: ValueAttributes?
        }

        struct State: Sendable {
            var changes: [StorageAddress: Change] = [:]
            /// The version of each value that was read or changed, when it was first seen.
            var seen: [StorageAddress: Int] = [:]
        }

        let state = Mutex(State())
    }

    func begin() -> Transaction { Transaction() }

    func get(_ key: StorageAddress, in transaction: Transaction, _ deliver: (RawSpan) -> Void) -> Bool {
        note(key, in: transaction)
        let change = transaction.state.withLock { $0.changes[key] }
        guard let change else { return get(key, deliver) }
        if let data = change.data { deliver(data.bytes) }
        return change.data != nil
    }

    func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?, in transaction: Transaction) {
        note(key, in: transaction)
        let data = value.withUnsafeBytes { Data($0) }
        transaction.state.withLock { $0.changes[key] = .init(data: data, attributes: attributes) }
    }

    func remove(_ key: StorageAddress, in transaction: Transaction) -> Bool {
        let existed = get(key, in: transaction) { _ in }
        transaction.state.withLock { $0.changes[key] = .init(data: nil, attributes: nil) }
        return existed
    }

    func commit(_ transaction: Transaction) throws {
        let (changes, seen) = transaction.state.withLock { ($0.changes, $0.seen) }
        try state.withLock { state in
            for (key, version) in seen where state.versions[key, default: 0] != version {
                throw StorageError(.busy, "'\(key)' was changed meanwhile")
            }
            for (key, change) in changes { Self.put(change.data, change.attributes, at: key, in: &state) }
        }
    }

    func rollback(_ transaction: Transaction) {}

    private func note(_ key: StorageAddress, in transaction: Transaction) {
        let version = state.withLock { $0.versions[key, default: 0] }
        transaction.state.withLock { state in
            if state.seen[key] == nil { state.seen[key] = version }
        }
    }
}
