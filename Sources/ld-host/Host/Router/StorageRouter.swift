public import LocalDataAPI
internal import Synchronization

/// The way to stored values: takes typed keys, and asks the store that the configuration maps the key's domain to.
///
/// ```swift
/// try await StorageRouter.shared.set("dark", for: .theme)
/// let theme = try await StorageRouter.shared.get(.theme)
/// ```
///
/// - **Order.** After `set` or `remove` returned, every `get` through any router in this process reads that state or a
///   later one; in other processes too, if the store is shared.
/// - **Durability.** With a durable store (every one but `memory`), what was returned from survives a power loss.
/// - **Threads.** Use it from any task. Memory and disk reads are made on the caller's thread; everything that may wait
///   runs on ``IOExecutor``, so neither the main actor nor Swift's thread pool is ever held. Code that is not async and
///   has to wait for a value does so as ``IOExecutor`` shows, or it can deadlock.
/// - **Swapping.** A change of configuration takes effect for calls that begin after it; calls in flight end on the
///   store that they began with.
/// - **Errors.** All are `StorageError`, but for what keeps a migration from bringing older data: that is a
///   `MigrationError`, and never `notFound`.
public final class StorageRouter: StorageProviding, Sendable {
    /// The router of this process, configured by the files and variables of its environment when it is first used.
    public static let shared = StorageRouter { () throws(StorageError) in try HostConfiguration.load() }

    struct State {
        var configuration: HostConfiguration?
        var storage = StorageConfiguration()
        var files = FileStorageConfiguration()
        var catalogs: [any StorageKeyCatalog] = []
        var log: (any StorageLogHandler)?
        var encryption = EncryptionConfiguration()
        var slots: [SlotKey: StoreSlot] = [:]
        var cryptos: [String: (slot: CryptoSlot, registry: PluginRegistry)] = [:]
        var packs: [HostSettings.Pack: (slot: PackSlot, registry: PluginRegistry)] = [:]
        let providers = KeyMaterialProviders()
        let defaults = DefaultValues()
        /// Those of all snapshots, which are never freed either.
        var rings: [MasterRings] = []
        var registries: [String: PluginRegistry] = [:]
        var linked: [PluginImage] = []
    }

    let state = Mutex(State())
    let migrationRegistry = MigrationRegistry()
    let placeHistory = PlaceHistory()
    let load: @Sendable () throws(StorageError) -> HostConfiguration
    /// The current snapshot's address; 0 before the first.
    private let current = Atomic<UInt>(0)

    private init(load: @escaping @Sendable () throws(StorageError) -> HostConfiguration) { self.load = load }

    /// Creates a router that is independent of the environment and of others; stores are opened as they are needed.
    ///
    /// - Parameters:
    ///   - configuration: What serves what.
    ///   - log: Takes the log; `nil` for standard error at the configured level.
    public convenience init(configuration: HostConfiguration, log: (any StorageLogHandler)? = nil) {
        self.init { () throws(StorageError) in configuration }
        state.withLock { $0.log = log }
    }

    /// The resolution of a key in the current snapshot, if it is known; valid as long as the slot is kept alive.
    @inline(__always)
    func known(_ slot: KeyResolutionSlot) -> Unmanaged<ResolvedKey>? {
        slot.resolution(for: current.load(ordering: .acquiring)).map { .fromOpaque($0.toOpaque()) }
    }

    /// The current snapshot, made now if there is none yet.
    func snapshot() async throws(StorageError) -> RouterSnapshot {
        if let snapshot = published { return snapshot }
        return try await onIOThread { () throws(StorageError) in
            // Of several first callers, one loads; the others wait for the lock and find it done.
            if let snapshot = self.published { return snapshot }
            let snapshot = try self.publish { _ throws(StorageError) in }
            self.recover(snapshot)
            return snapshot
        }
    }

    /// Makes a snapshot for who is to change nothing, not even to go on with what was interrupted: that is left to who
    /// uses the router next.
    func untouchedSnapshot<Result>(
        _ body: (RouterSnapshot) async throws -> Result
    ) async throws -> Result {
        if let snapshot = published { return try await body(snapshot) }
        let snapshot = try await onIOThread { () throws(StorageError) in
            if let snapshot = self.published { return snapshot }
            return try self.publish { _ throws(StorageError) in }
        }
        defer { _ = current.compareExchange(expected: snapshot.id, desired: 0, ordering: .acquiringAndReleasing) }
        return try await body(snapshot)
    }

    private var published: RouterSnapshot? {
        UnsafeRawPointer(bitPattern: current.load(ordering: .acquiring))
            .map { Unmanaged<RouterSnapshot>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Makes a change to the state and publishes the snapshot that follows from it. May wait.
    ///
    /// - Throws: What loading the configuration, the change, or checking its outcome throws; then nothing has changed.
    @discardableResult
    func publish(
        _ change: (inout State) throws(StorageError) -> Void
    ) throws(StorageError) -> RouterSnapshot {
        try state.withLock { state throws(StorageError) in
            var next = state
            try change(&next)
            if next.configuration == nil { next.configuration = try load() }
            let snapshot = try Self.snapshot(of: &next)
            state = next
            // Retained for good: readers take no reference, and a freed snapshot's address could come again.
            current.store(UInt(bitPattern: Unmanaged.passRetained(snapshot).toOpaque()), ordering: .releasing)
            return snapshot
        }
    }

    /// Makes a change that cannot be refused. If what follows from it is not valid, every call from now on says so,
    /// until another change makes it valid.
    func publishOrFail(_ change: @escaping @Sendable (inout State) -> Void) async {
        _ = try? await onIOThread { () throws(StorageError) in
            do throws(StorageError) {
                try self.publish { (state) throws(StorageError) in change(&state) }
            } catch {
                self.state.withLock { state in
                    change(&state)
                    self.current.store(0, ordering: .releasing)
                }
            }
        }
    }
}
