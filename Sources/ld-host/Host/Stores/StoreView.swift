internal import ByteCoding
package import FoundationEssentials
internal import HostGround
package import HostPlugins
package import LocalDataAPI
internal import Synchronization

/// Records what was read of a scope, so that changes based on it are made only while it is current.
///
/// A store with transactions itself refuses outdated changes. With another store, e.g. a keyring, everything that was
/// read is read again right before the changes, while this process's other writers wait. What this misses is a change
/// that another process makes in that moment, and a streamed value that is put in place then.
package final class StoreView: Sendable {
    private struct State {
        var transaction: StoreTransaction?
        var seen: [(handle: StoreHandle, owner: any AnyObject & Sendable, mark: UInt64?)] = []
    }

    let scope: AtomicScope
    private let state: Mutex<State>

    private var open: OpenStore { scope.open }

    /// Begins a view; reads nothing.
    package init(_ scope: AtomicScope) throws(StorageError) {
        self.scope = scope
        let open = scope.open
        let transaction = open.store.abilities.transactions == nil ? nil : try open.store.begin()
        state = Mutex(State(transaction: transaction))
    }

    deinit {
        if let transaction = state.withLock({ $0.transaction }) { open.store.rollback(transaction) }
    }

    /// The bytes in the store; `nil` if there are none. May wait.
    package func read(_ key: ResolvedKey) throws(StorageError) -> Data? { try read(key.handle, of: key) }

    /// The same of a value without a key.
    package func read(_ value: SealedValue) throws(StorageError) -> Data? { try read(value.handle, of: value.owner) }

    /// The same of a handle that its owner keeps valid.
    func read(
        _ handle: StoreHandle, of owner: any AnyObject & Sendable
    ) throws(StorageError) -> Data? {
        try state.withLock { state throws(StorageError) in
            let transaction = state.transaction
            let stored = try open.repeating { () throws(StorageError) in
                guard let transaction else { return try open.store.get(handle) }
                return try open.store.get(handle, in: transaction)
            }
            if transaction == nil { state.seen.append((handle, owner, stored.map { StableHash.of($0) })) }
            return stored
        }
    }

    /// Applies changes, all or none, if everything that was read is still current; used once. May wait.
    ///
    /// - Returns: Whether it was; if not, nothing has changed.
    package func apply(_ changes: [StorageChange<StoreHandle>]) throws(StorageError) -> Bool {
        try state.withLock { state throws(StorageError) in
            guard let transaction = state.transaction else {
                let seen = state.seen
                return try open.alone(changing: changes.map(\.key.address)) { () throws(StorageError) in
                    for (handle, _, mark) in seen {
                        guard try open.store.get(handle).map({ StableHash.of($0) }) == mark else { return false }
                    }
                    try open.apply(changes)
                    return true
                }
            }
            for change in changes {
                if let value = change.value {
                    try open.store.set(change.key, to: value, attributes: change.attributes, in: transaction)
                } else {
                    _ = try open.store.remove(change.key, in: transaction)
                }
            }
            state.transaction = nil
            do throws(StorageError) { try open.store.commit(transaction) } catch {
                guard error.code == .busy else { throw error }
                return false
            }
            return true
        }
    }

    /// Whether everything that was read is still current; used once, instead of ``apply(_:)``.
    func holds() throws(StorageError) -> Bool { try apply([]) }
}

extension OpenStore {
    /// Runs `body` while no other thread of this process changes the store, as far as that is possible.
    ///
    /// - Parameter addresses: What `body` changes.
    func alone<Result>(
        changing addresses: [StorageAddress], _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard let gate = store.gate else { return try body() }
        return try store.together(addresses) { () throws(StorageError) in try gate.alone(body) }
    }
}
