internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI
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

extension StoreUnderTest {
    func set(_ name: String, to value: Data, attributes: ValueAttributes? = nil) throws {
        try store.set(handle(name), to: value, attributes: attributes)
    }

    func set(_ name: String, to text: String) throws { try set(name, to: Data(text.utf8)) }

    func get(_ name: String) throws -> Data? { try store.get(handle(name)) }

    @discardableResult
    func remove(_ name: String) throws -> Bool { try store.remove(handle(name)) }

    /// Ends the check with a failure unless the name holds exactly this value.
    func expect(_ name: String, holds value: Data?, _ when: String = "") throws {
        try expect(StorageAddress(place, name: name), holds: value, when)
    }

    func expect(_ address: StorageAddress, holds value: Data?, _ when: String = "") throws {
        let found = try store.get(handle(address))
        guard found != value else { return }
        let context = when.isEmpty ? "" : " \(when)"
        guard let found, let value, found.count == value.count,
            let place = zip(found, value).enumerated().first(where: { $0.element.0 != $0.element.1 })?.offset
        else {
            throw ConformanceFailure("'\(address.name)'\(context): expected \(value.shown), found \(found.shown)")
        }
        throw ConformanceFailure(
            "'\(address.name)'\(context): expected \(value.shown); the value found differs from byte \(place) on")
    }

    /// The names in a listing.
    func names(
        in place: StorageNamespace? = nil, prefix: String = "", after: String? = nil, limit: Int? = nil
    ) throws -> [String] {
        var names: [String] = []
        try store.forEachName(in: place ?? self.place, prefix: prefix, after: after, limit: limit) {
            names.append($0)
            return true
        }
        return names
    }
}

/// Whether two lists of names are the same, byte for byte.
func same(_ left: [String], _ right: [String]) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy { $0.hasBytes(of: $1) }
}

/// Ends the check with a failure unless two lists of names are the same, byte for byte.
func expect(_ found: [String], are expected: [String], _ what: String) throws {
    try expect(same(found, expected), "\(what): expected \(expected), found \(found)")
}

extension StoreUnderTest {
    /// The values of one bulk read.
    func values(
        in place: StorageNamespace? = nil, prefix: String = "", after: String? = nil, largest: Int = .max
    ) throws -> [BoundaryValue] {
        var values: [BoundaryValue] = []
        try store.forEachValue(in: place ?? self.place, prefix: prefix, after: after, largest: largest) { value in
            values.append(BoundaryValue(value))
            return true
        }
        return values
    }

    /// The mark of a stored value.
    func mark(of name: String) throws -> UInt64 {
        guard let value = try values(prefix: name).first(where: { $0.name == name }) else {
            throw ConformanceFailure("'\(name)' is stored but missing in a bulk read")
        }
        return value.mark
    }

    /// Creates a change for ``apply(_:)``, of a name in the check's namespace.
    func change(
        _ name: String, _ text: String?, in place: StorageNamespace? = nil, mark: UInt64? = nil
    ) -> BoundaryChange {
        BoundaryChange(
            address: StorageAddress(place ?? self.place, name: name), value: text.map { Data($0.utf8) }, mark: mark)
    }

    /// Applies many changes in one call; returns the indices of those whose expectation failed.
    func apply(_ changes: [BoundaryChange]) throws -> [Int] {
        // Values with a handle are removed at the end of the check.
        for change in changes { _ = try handle(change.address) }
        return try store.apply(many: changes).sorted()
    }

    /// Applies many changes in one call; all expectations must hold.
    func applyAll(_ changes: [BoundaryChange]) throws {
        let conflicts = try apply(changes)
        guard !conflicts.isEmpty else { return }
        throw ConformanceFailure("the changes \(conflicts) of \(changes.count) are reported as conflicts")
    }
}

extension BoundaryValue {
    init(_ lent: LoadedStore.LentValue) {
        self.init(
            name: String(decoding: lent.name, as: UTF8.self), value: lent.value.map { Data($0) },
            attributes: lent.makeAttributes(), mark: lent.mark)
    }
}

/// Ends the check with a failure unless two lists of indices are the same.
func expect(_ found: [Int], are expected: [Int], _ what: String) throws {
    try expect(found == expected, "\(what): expected \(expected), found \(found)")
}
