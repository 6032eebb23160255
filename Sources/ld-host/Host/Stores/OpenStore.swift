internal import Glibc
package import HostGround
package import HostPlugins
package import HostSealing
package import LocalDataAPI
internal import Synchronization

/// An open store with the lane for its calls.
package final class OpenStore: Sendable {
    package let name: String
    package let store: LoadedStore
    package let plugin: String
    package let component: String
    /// The store's identity: equal for all stores, in any process and under any name, that the same component serves
    /// with the same options.
    package let identity: UInt64
    /// Where it keeps its values, according to its options.
    package let location: StoreLocation
    /// How values are sealed before they go to the store, if they are.
    package let sealing: StoreSealing?
    /// Whether it has values that it sealed, and is configured without its sealing: those cannot be opened.
    package let hasForgottenSealing: Bool
    private let lane: CallLane
    /// Counts the values that expire.
    private let written = Atomic<UInt>(0)
    /// The store for calls on threads that must not wait.
    package let inline: LoadedStore

    convenience init(
        name: String, store: LoadedStore, plugin: String, component: String, identity: UInt64, location: StoreLocation,
        sealing: StoreSealing?, hasForgottenSealing: Bool, concurrency: Int, timeout: Duration
    ) {
        let waitsForOthers = store.properties.latency.rawValue >= StoreProperties.Latency.network.rawValue
        self.init(
            name: name, store: store, plugin: plugin, component: component, identity: identity, location: location,
            sealing: sealing, hasForgottenSealing: hasForgottenSealing,
            lane: CallLane(width: concurrency, timeout: waitsForOthers ? timeout : nil))
    }

    private init(
        name: String, store: LoadedStore, plugin: String, component: String, identity: UInt64, location: StoreLocation,
        sealing: StoreSealing?, hasForgottenSealing: Bool, lane: CallLane
    ) {
        self.name = name
        self.store = store
        inline = LoadedStore(inline: store)
        self.plugin = plugin
        self.component = component
        self.identity = identity
        self.location = location
        self.sealing = sealing
        self.hasForgottenSealing = hasForgottenSealing
        self.lane = lane
    }

    /// A second, frozen instance of an open store.
    convenience init(frozen store: LoadedStore, of known: OpenStore) {
        self.init(
            name: known.name, store: store, plugin: known.plugin, component: known.component, identity: known.identity,
            location: known.location, sealing: known.sealing, hasForgottenSealing: known.hasForgottenSealing,
            lane: known.lane)
    }

    /// The same store for those who move values from and to it; see ``LoadedStore/init(moving:)``.
    package var forMoving: OpenStore { OpenStore(frozen: LoadedStore(moving: store), of: self) }

    /// Whether it keeps its values where another store does, whatever their paths. May wait.
    package func keepsSameValues(as other: OpenStore) -> Bool {
        identity == other.identity || component == other.component && location.isSame(as: other.location)
    }

    /// A location for rings to record; `nil` if its values are gone with the process.
    package func sealedPlace(_ place: StorageNamespace) -> SealedPlace? {
        guard !isGoneWithProcess else { return nil }
        return SealedPlace(store: name, identity: identity, namespace: place)
    }

    /// Whether it protects its values: the host seals them, or it is itself a keychain.
    package var isKeychain: Bool { sealing != nil || store.properties.isKeychain }

    /// Whether its values are only in this process's memory.
    package var isGoneWithProcess: Bool { !store.properties.isDurable && !store.properties.isShared }

    /// Whether `get` and `exists` are called on the caller's thread.
    package var readsInline: Bool { store.properties.latency.rawValue <= StoreProperties.Latency.disk.rawValue }

    /// Whether calls that may wait for the disk run on the caller's thread: the store never waits, or this thread may.
    var writesInline: Bool {
        switch store.properties.latency {
        case .memory: true
        case .disk: IOExecutor.isCurrent
        default: false
        }
    }

    /// Reads inline if the store allows it, otherwise on an I/O thread.
    package func read<Value: Sendable>(
        _ what: @autoclosure @Sendable () -> String,
        _ call: @escaping @Sendable (LoadedStore) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        guard readsInline else {
            return try await lane.run(what()) { [store] () throws(StorageError) in try call(store) }
        }
        do throws(StorageError) { return try call(inline) } catch {
            guard isBusyForNow(error) else { throw error }
        }
        return try await lane.run(what()) { [self] () throws(StorageError) in
            try repeating { () throws(StorageError) in try call(store) }
        }
    }

    /// Makes a call that may wait for the disk: inline if the store never waits or the caller's thread may.
    package func write<Value: Sendable>(
        _ what: @autoclosure @Sendable () -> String,
        _ call: @escaping @Sendable (LoadedStore) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        if writesInline { return try call(store) }
        return try await lane.run(what()) { [store] () throws(StorageError) in try call(store) }
    }

    /// Sweeps a namespace after every so many values that expire, so that those that nobody reads or lists do not pile
    /// up. A failure is no failure of the write: the next sweep removes them.
    func sweepNowAndThen(_ place: StorageNamespace) async {
        guard written.wrappingAdd(1, ordering: .relaxed).newValue % 128 == 0 else { return }
        _ = try? await write("sweeping '\(place)'") { (store) throws(StorageError) in
            try store.sweep(place, limit: 4096)
        }
    }

    /// Makes a call that takes locks or may take long, and handles secrets: on this thread only if it may wait.
    package func wait<Value: Sendable>(
        _ what: @autoclosure @Sendable () -> String, _ call: @escaping @Sendable () throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        if store.properties.latency.rawValue <= StoreProperties.Latency.disk.rawValue, IOExecutor.isCurrent {
            return try MemorySecrecy.clearingStack(call)
        }
        return try await lane.run(what()) { () throws(StorageError) in try MemorySecrecy.clearingStack(call) }
    }
}

/// A store that is read inline never waits there: it throws `busy`, and a thread that may wait tries again.
extension OpenStore {
    /// Whether an error of an inline read only means that it would have had to wait.
    func isBusyForNow(_ error: StorageError) -> Bool {
        error.code == .busy && store.properties.latency == .disk
    }

    /// Retries a read for about two seconds. Sleeps in between, so only for threads that may wait.
    package func repeating<Value>(_ read: () throws(StorageError) -> Value) throws(StorageError) -> Value {
        for pause in Self.pauses {
            do throws(StorageError) { return try read() } catch {
                guard isBusyForNow(error) else { throw error }
            }
            usleep(pause)
        }
        return try read()
    }

    /// In microseconds.
    private static let pauses: [UInt32] =
        [500, 1000, 2000, 5000, 10_000, 20_000, 50_000] + Array(repeating: 100_000, count: 19)
}

extension StoreProperties {
    /// How long the store keeps values, for people.
    package var durability: String {
        if isDurable { return "durable" }
        return latency == .memory ? "lost when the process ends" : "may be lost in a power loss"
    }
}

/// The part of a store whose values can change in one step: the whole store, or one folder of a store that keeps
/// folders apart.
package struct AtomicScope: Hashable, Sendable {
    package let open: OpenStore
    /// The folder, if the store keeps it apart.
    let directory: String?

    init(_ open: OpenStore, directory: String?) {
        self.open = open
        self.directory = directory
    }

    /// The scope of a namespace.
    package init(_ place: StorageNamespace, in open: OpenStore) {
        self.init(open, directory: open.store.properties.keepsFoldersApart ? place.directory : nil)
    }

    /// Paths are compared as bytes: canonically equivalent characters are different.
    package static func == (left: Self, right: Self) -> Bool {
        guard left.open === right.open else { return false }
        guard let folder = left.directory, let other = right.directory else {
            return left.directory == nil && right.directory == nil
        }
        return folder.hasBytes(of: other)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(open))
        hasher.combine(directory)
    }
}

extension ResolvedKey {
    package var scope: AtomicScope { AtomicScope(address.place, in: open) }
}

extension OpenStore {
    /// Applies changes in order: atomically if the store has batches, otherwise one by one.
    func apply(_ changes: [StorageChange<StoreHandle>]) throws(StorageError) {
        if changes.count > 1, store.abilities.batch != nil { return try store.apply(changes) }
        for change in changes {
            if let value = change.value {
                try store.set(change.key, to: value, attributes: change.attributes)
            } else {
                _ = try store.remove(change.key)
            }
        }
    }
}
