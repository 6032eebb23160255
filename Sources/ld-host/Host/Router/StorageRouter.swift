internal import FoundationEssentials
internal import Glibc
public import HostGround
internal import HostMigration
internal import HostPlugins
internal import HostStores
internal import HostTransfer
public import LocalDataAPI
internal import Synchronization

/// Access to stored values: takes typed keys, and calls the store that the configuration maps the key's domain to.
///
/// ```swift
/// try await StorageRouter.shared.set("dark", for: .theme)
/// let theme = try await StorageRouter.shared.get(.theme)
/// ```
///
/// - **Order.** After `set` or `remove` has returned, every `get` through any router in this process reads that state
///   or a later one; in other processes too, if the store is shared.
/// - **Durability.** With a durable store (all but `memory`), a completed change survives a power loss.
/// - **Threads.** Use it from any task. Memory and disk reads run on the caller's thread. Everything that may wait runs
///   on ``IOExecutor``, so it never blocks the main actor or Swift's thread pool. Synchronous code that has to wait for
///   a value must use ``IOExecutor/blocking(_:)``, or it can deadlock.
/// - **Swapping.** A change of configuration, also of its files, takes effect for calls that begin after it; calls in
///   flight end on the store that they began with.
/// - **Errors.** All are `StorageError`, except when a migration cannot bring older data: that is a `MigrationError`,
///   and never `notFound`.
public final class StorageRouter: StorageProviding, Sendable {
    /// The router of this process, configured at its first use by the files and variables of its environment.
    public static let shared = StorageRouter { () throws(StorageError) in try HostConfiguration.load() }

    struct State {
        /// The keys of opened containers and vaults.
        let declared: DeclaredKeys
        var configuration: HostConfiguration?
        var storage = StorageConfiguration()
        var files = FileStorageConfiguration()
        var catalogs: [any StorageKeyCatalog] = []
        var log: (any StorageLogHandler)?
        var encryption = EncryptionConfiguration()
        var syncing = SyncConfiguration()
        var slots: [SlotKey: StoreSlot] = [:]
        var cryptos: [String: Kept<CryptoSlot>] = [:]
        var packs: [HostSettings.Pack: Kept<PackSlot>] = [:]
        var transports: [TransportKey: Kept<TransportSlot>] = [:]
        /// What open components log to.
        let relay = LogRelay()
        /// This device in its sync group, as the last snapshot that synced saw it.
        var device: SyncDevice?
        let synced = SyncedChanges()
        /// Milliseconds since 1970 UTC, for sync.
        var clock: @Sendable () -> UInt64 = { UInt64(max(0, Date().timeIntervalSince1970 * 1000)) }
        /// This machine's id, for sync.
        var machine: @Sendable () -> String? = { SyncDevice.machineID }
        let providers = KeyMaterialProviders()
        let defaults = DefaultValues()
        let places = PlaceHistory()
        let marks = ServingMarks()
        /// The rings of all snapshots, which are never freed either.
        var rings: [MasterRings] = []
        var registries: [String: PluginRegistry] = [:]
        var linked: [PluginImage] = []
    }

    /// A slot of an earlier snapshot, with what it opens its component by.
    struct Kept<Slot: Sendable> {
        let slot: Slot
        let registry: PluginRegistry
        let folders: HostSettings.Folders

        /// The slot, if a snapshot with these would open the same.
        func slot(_ registry: PluginRegistry, _ folders: HostSettings.Folders) -> Slot? {
            self.registry === registry && self.folders == folders ? slot : nil
        }
    }

    let state: Mutex<State>
    /// The keys of opened containers and vaults.
    let declared: DeclaredKeys
    let migrationRegistry = MigrationRegistry()
    let load: @Sendable () throws(StorageError) -> HostConfiguration
    /// The current snapshot's address; 0 before the first.
    private let current = Atomic<UInt>(0)
    private let page = ConfigurationPage.ofUser
    // It stays mapped.
    /// Where the page's number is.
    nonisolated(unsafe) private let number = ConfigurationPage.ofUser.place
    /// The page's number before the current configuration's files were read.
    private let seen = Atomic<UInt64>(0)
    /// Held while the configuration is looked at.
    private let following = Mutex(())
    /// Whether the places of keys are still to be noted for a changed configuration.
    private let mustNotePlaces = Atomic(false)
    /// Held while interrupted work is resumed.
    private let recovery = Mutex(())
    private let hasRecovered = Atomic(false)

    private init(load: @escaping @Sendable () throws(StorageError) -> HostConfiguration) {
        self.load = load
        declared = DeclaredKeys()
        state = Mutex(State(declared: declared))
        state.withLock { $0.marks }.follow { [weak self] () throws(StorageError) in _ = try self?.follow() }
    }

    /// Creates a router that is independent of the environment and of others; it opens stores on demand.
    ///
    /// - Parameters:
    ///   - configuration: Maps domains to stores.
    ///   - log: Receives the log; `nil` for standard error at the configured level.
    public convenience init(configuration: HostConfiguration, log: (any StorageLogHandler)? = nil) {
        self.init { () throws(StorageError) in configuration }
        state.withLock { $0.log = log }
    }

    /// The resolution of a key in the current snapshot, if it is cached; valid while the slot is alive.
    @inline(__always)
    func known(_ slot: KeyResolutionSlot) -> Unmanaged<ResolvedKey>? {
        guard isCurrent else { return nil }
        return slot.resolution(for: current.load(ordering: .acquiring)).map { .fromOpaque($0.toOpaque()) }
    }

    /// Whether no configuration file was changed since the current snapshot's were read.
    @inline(__always)
    private var isCurrent: Bool { number.pointee.load(ordering: .acquiring) == seen.load(ordering: .relaxed) }

    /// What differs from the last one if the configuration may have changed.
    var currentState: [UInt64] { [page.number, UInt64(current.load(ordering: .relaxed))] }

    /// The current snapshot, created at the first use, and when a configuration file was changed.
    func snapshot() async throws(StorageError) -> RouterSnapshot {
        if hasRecovered.load(ordering: .acquiring), isCurrent, !mustNotePlaces.load(ordering: .relaxed),
            let snapshot = published
        {
            return snapshot
        }
        let snapshot = try await onIOThread { () throws(StorageError) in
            let snapshot = try self.follow()
            self.recoverOnce(snapshot)
            return snapshot
        }
        if mustNotePlaces.exchange(false, ordering: .acquiringAndReleasing) { await notePlaces(in: snapshot) }
        return snapshot
    }

    /// The snapshot for what the configuration files say now.
    ///
    /// - Throws: Why they cannot be read, or are not valid; the next call tries again.
    func follow() throws(StorageError) -> RouterSnapshot {
        // The first of several callers looks; the others wait for the lock and find it done. Two snapshots could have
        // two stores, if one of them is being opened.
        try following.withLock { (_) throws(StorageError) in try look() }
    }

    private func look() throws(StorageError) -> RouterSnapshot {
        let number = page.number
        guard let former = published, let held = state.withLock({ $0.configuration }) else {
            return try publish { _ throws(StorageError) in }
        }
        if number == seen.load(ordering: .relaxed) { return former }
        var snapshot = former
        let next = try Self.readingAgain(held)
        if let next, !next.isSame(as: held) {
            state.withLock { $0.places }.settingsChanged()
            snapshot = try publish { (state) throws(StorageError) in state.configuration = next }
            mustNotePlaces.store(true, ordering: .releasing)
        }
        note(next?.number ?? number, snapshot)
        return snapshot
    }

    /// Notes that a snapshot holds as long as the page has a number. Changes that are under way see the snapshot first.
    private func note(_ number: UInt64, _ snapshot: RouterSnapshot) {
        state.withLock { $0.marks }.update(number, snapshot.settings.routes)
        seen.store(number, ordering: .relaxed)
    }

    /// Reads a configuration's files again. An editor may be writing one at this moment, so it looks several times.
    private static func readingAgain(_ held: HostConfiguration) throws(StorageError) -> HostConfiguration? {
        for _ in 0..<5 {
            if let next = try? held.readAgain() { return next }
            guard held.isOfFiles else { return nil }
            usleep(20_000)
        }
        return try held.readAgain()
    }

    /// Resumes interrupted work before the first use, whichever call has made the snapshot.
    private func recoverOnce(_ snapshot: RouterSnapshot) {
        recovery.withLock { _ in
            guard !hasRecovered.load(ordering: .relaxed) else { return }
            recover(snapshot)
            hasRecovered.store(true, ordering: .releasing)
        }
    }

    /// Creates a snapshot for a caller that must change nothing, not even resume interrupted work: that is left to the
    /// next user of the router.
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

    /// Logs without waiting for anything, on a thread that may hold what others wait for.
    func logAtOnce(_ level: StorageLogLevel, _ label: String, _ message: String) {
        let log = published?.log ?? state.withLockIfAvailable { $0.log } ?? nil
        (log ?? StandardErrorLog(level: .warning)).log(level, label: label, message)
    }

    /// Never released: readers take no reference, and a freed snapshot's address could be reused. In a list, so that
    /// the leak sanitizer finds them.
    private static let everPublished = Mutex([RouterSnapshot]())

    private var published: RouterSnapshot? {
        UnsafeRawPointer(bitPattern: current.load(ordering: .acquiring))
            .map { Unmanaged<RouterSnapshot>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Changes the state and publishes the resulting snapshot. May wait.
    ///
    /// - Throws: What loading the configuration, the change, or checking its result throws; then nothing has changed.
    @discardableResult
    func publish(
        _ change: (inout State) throws(StorageError) -> Void
    ) throws(StorageError) -> RouterSnapshot {
        try state.withLock { state throws(StorageError) in
            var next = state
            try change(&next)
            let isFirst = next.configuration == nil
            if isFirst { next.configuration = try loadWatched() }
            let snapshot = try Self.snapshot(of: &next)
            state = next
            if isFirst, let configuration = next.configuration {
                let number = configuration.isOfFiles ? configuration.number : page.number
                next.marks.update(number, snapshot.settings.routes)
                seen.store(number, ordering: .relaxed)
            } else {
                next.marks.add(snapshot.settings.routes)
            }
            // Other folders have journals of their own.
            let folders = snapshot.settings.folders
            if let former = published?.settings.folders,
                [former.journal, former.batches] != [folders.journal, folders.batches]
            {
                hasRecovered.store(false, ordering: .releasing)
            }
            Self.everPublished.withLock { $0.append(snapshot) }
            current.store(UInt(bitPattern: Unmanaged.passUnretained(snapshot).toOpaque()), ordering: .releasing)
            return snapshot
        }
    }

    /// The configuration, whose files are read again once they are watched: they may have changed meanwhile.
    private func loadWatched() throws(StorageError) -> HostConfiguration {
        let configuration = try load()
        guard configuration.watchesFiles, ConfigurationWatch.shared.add(configuration.watchedFiles) else {
            return configuration
        }
        let again = try configuration.readAgain()
        return again ?? configuration
    }

    /// Makes a change that cannot be refused. If the result is invalid, every call from now on throws that error, until
    /// another change makes it valid.
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
