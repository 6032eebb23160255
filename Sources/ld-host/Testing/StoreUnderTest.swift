internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost
internal import Synchronization

/// The store of one check: opened for it, with its own namespace, emptied and closed after it.
final class StoreUnderTest: Sendable {
    private struct State {
        var store: LoadedStore?
        var handles: [StorageAddress: StoreHandle] = [:]
        var others: [StoreHandle] = []
        var workers: [Worker] = []
        var watches: [BoundaryWatch] = []
    }
    let subject: ConformanceSubject
    /// The check's default namespace.
    let place: StorageNamespace
    let properties: StoreProperties
    let folder: String
    private let state: Mutex<State>

    init(_ subject: ConformanceSubject, check: String, folder: String) throws(StorageError) {
        self.subject = subject
        self.folder = folder
        place = StorageNamespace(domain: "conformance", scope: "\(check)-\(UInt32.random(in: 0 ... .max))")
        let store = try subject.openStore(in: folder)
        properties = store.properties
        state = Mutex(State(store: store))
    }

    /// The open store.
    var store: LoadedStore {
        get throws {
            guard let store = state.withLock({ $0.store }) else { throw ConformanceFailure("the store is closed") }
            return store
        }
    }

    /// How long a call on another thread may take before the check considers it stuck.
    var patience: Duration {
        switch properties.latency {
        case .memory, .disk: .seconds(3)
        case .network: .seconds(15)
        case .interactive: .seconds(60)
        }
    }

    /// Another namespace of this check.
    func place(_ suffix: String, domain: String = "conformance") -> StorageNamespace {
        StorageNamespace(domain: domain, scope: place.scope + suffix)
    }

    /// A namespace with its own folder.
    func place(inFolder name: String) -> StorageNamespace {
        StorageNamespace(domain: place.domain, scope: "\(place.scope) \(name)", directory: "\(folder)/\(name)")
    }

    /// The check's handle for an address: always the same one.
    func handle(_ address: StorageAddress) throws -> StoreHandle {
        if let known = state.withLock({ $0.handles[address] }) { return known }
        let store = try store
        let handle = try store.resolve(address)
        let winner: StoreHandle? = state.withLock { state in
            if let winner = state.handles[address] { return winner }
            state.handles[address] = handle
            return nil
        }
        // Two threads resolved it at once; each success needs one release, even if both got the same pointer.
        guard let winner else { return handle }
        store.release(handle)
        return winner
    }

    func handle(_ name: String) throws -> StoreHandle { try handle(StorageAddress(place, name: name)) }

    /// A second handle besides the one that ``handle(_:)`` returns.
    func anotherHandle(_ name: String) throws -> StoreHandle {
        let handle = try store.resolve(StorageAddress(place, name: name))
        state.withLock { $0.others.append(handle) }
        return handle
    }

    /// Runs `body` on another thread and waits for ``patience``; `false` if it is still running. Then the end of the
    /// check waits for it.
    func elsewhere(_ body: @escaping @Sendable () throws -> Void) throws -> Bool {
        let worker = try Worker(body)
        if try worker.finishes(within: patience) { return true }
        state.withLock { $0.workers.append(worker) }
        return false
    }

    /// Watches until the end of the check, or until ``BoundaryWatch/end()``.
    func watch(_ place: StorageNamespace? = nil, prefix: String = "") throws -> BoundaryWatch {
        let watch = try BoundaryWatch(store, place: place ?? self.place, prefix: prefix)
        state.withLock { $0.watches.append(watch) }
        return watch
    }

    /// Closes the store and its watches.
    func close() throws {
        let ended = state.withLock { state in
            let ended = state
            state = State()
            return ended
        }
        for worker in ended.workers { try? worker.join() }
        for watch in ended.watches { watch.end() }
        guard let store = ended.store else { return }
        for handle in ended.handles.values { store.release(handle) }
        for handle in ended.others { store.release(handle) }
        store.close()
    }

    /// Opens the store again, with the same options.
    func open() throws {
        let store = try subject.openStore(in: folder)
        state.withLock { $0.store = store }
    }

    /// Lets another process execute steps on the same store.
    func peer(_ steps: [PeerStep]) throws -> [String] {
        guard let peer = subject.peer else { throw ConformanceFailure("there is no other process") }
        return try peer.run(PeerScript(folder: folder, domain: place.domain, scope: place.scope, steps: steps))
    }

    /// Removes what the check stored, and closes the store.
    func end() {
        let (handles, workers) = state.withLock { ($0.handles.values, $0.workers) }
        for worker in workers { try? worker.join() }
        if let store = try? store { for handle in handles { _ = try? store.remove(handle) } }
        try? close()
    }
}
