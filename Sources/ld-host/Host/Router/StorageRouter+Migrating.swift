internal import HostGround
public import HostMigration
internal import HostPlugins
internal import HostStores
internal import HostSync
internal import HostTransfer
public import LocalDataAPI
internal import Synchronization

/// Running migrations.
extension StorageRouter {
    /// The migrations of this router, on the stores of the current snapshot.
    func engine() async throws(StorageError) -> MigrationEngine {
        engine(try await snapshot())
    }

    /// The same of a snapshot.
    func engine(_ snapshot: RouterSnapshot) -> MigrationEngine {
        MigrationEngine(
            access: StoreAccess(snapshot: snapshot), registry: migrationRegistry,
            standing: { () throws(StorageError) in try await SyncDevice.standing(snapshot) },
            isKeptAside: { (key) throws(StorageError) in try await SyncDevice.isKeptAside(at: key, snapshot) },
            adopt: { (key, resolved) throws(StorageError) in try await SyncDevice.adopt(key, resolved, snapshot) })
    }

    /// Runs migrations or undoes some, while no store is switched.
    ///
    /// - Throws: `busy` if one is being switched for too long; what `body` throws.
    func migrating<Result>(_ body: (MigrationEngine) async throws -> Result) async throws -> Result {
        // Interrupted switches are finished first.
        let snapshot = try await snapshot()
        return try await steadily(in: snapshot.settings.folders.state) { try await body(engine()) }
    }

    /// Runs `body`, during which no store of a state folder is switched.
    func steadily<Result>(in folder: String, _ body: () async throws -> Result) async throws -> Result {
        let work = try await onIOThread { () throws(StorageError) in try SteadyWork(in: folder) }
        defer { withExtendedLifetime(work) {} }
        return try await body()
    }

    /// Runs the migration of a key now, whether or not the key has a value.
    ///
    /// The condition and the conflict policy apply as always, and a value that takes part in sync is left to the device
    /// that leads the sync group; only the run is forced.
    ///
    /// - Parameters:
    ///   - key: Runs its own migration, or else those that are registered for it.
    ///   - onConflict: Replaces the migration's own policy.
    /// - Returns: The result of the key's last migration that changed something; see its `outcome`.
    /// - Throws: `MigrationError` with the migration; then nothing has changed.
    @discardableResult
    public func forceMigration<Value>(
        for key: StorageKey<Value>, onConflict: MigrationConflictPolicy? = nil
    ) async throws -> MigrationResult {
        try await forceMigration(for: AnyStorageKey(key), onConflict: onConflict)
    }

    /// Runs the migration of a key without a type.
    @discardableResult
    public func forceMigration(
        for key: AnyStorageKey, onConflict: MigrationConflictPolicy? = nil
    ) async throws -> MigrationResult {
        let result = try await migrating { try await $0.migrate(key, onConflict: onConflict) }
        await syncMigrated([result.outcome])
        return result
    }

    /// Runs a registered migration, or one of a pack, by its id, after its dependencies.
    ///
    /// - Parameters:
    ///   - onConflict: Replaces the migration's own policy.
    ///   - progress: For a bulk migration, called with the number of examined values and of all values, on any thread.
    /// - Throws: `MigrationError` with the migration. Chunks of a bulk migration that were moved before stay moved, and
    ///   the next run resumes after them.
    @discardableResult
    package func runMigration(
        _ id: String, onConflict: MigrationConflictPolicy? = nil,
        progress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil
    ) async throws -> MigrationResult {
        let result = try await migrating { try await $0.run(id, onConflict: onConflict, progress: progress) }
        await syncMigrated([result.outcome])
        return result
    }

    /// Runs the migrations of keys, each after its dependencies, even if some fail.
    ///
    /// - Returns: What became of each, in the order of the keys.
    package func migrate(_ keys: [AnyStorageKey]) async throws -> MigrationReport {
        let report = try await migrating { try await $0.migrate(keys) }
        await syncMigrated(report.entries.map(\.outcome))
        return report
    }

    /// Runs migrations that were registered, by themselves, with a catalog or from a pack, and those of the keys in a
    /// catalog whose location was changed: each once and after those that it depends on. What depends on one that fails
    /// is not run; all others are. May be run again after any interruption.
    ///
    /// Of values that take part in sync, only the device that leads the sync group runs migrations, and syncs
    /// afterwards; on the others they are skipped, and what they would bring comes by sync.
    ///
    /// - Parameters:
    ///   - selection: Which of them.
    ///   - onConflict: In place of each migration's own policy.
    ///   - progress: Called with how far the run is, on any thread.
    /// - Returns: The outcome of each; its `failures` are logged, too. If a bulk migration fails, chunks that were
    ///   already moved stay moved, and the next run resumes after them.
    /// - Throws: `MigrationError` if an id is not known, or a pack is missing or refused; then nothing is run.
    @discardableResult
    public func migrate(
        _ selection: MigrationSelection = .all, onConflict: MigrationConflictPolicy? = nil,
        progress: (@Sendable (MigrationProgress) -> Void)? = nil
    ) async throws -> MigrationReport {
        let report = try await migrating { try await $0.migrate(selection, onConflict: onConflict, progress: progress) }
        await syncMigrated(report.entries.map(\.outcome))
        return report
    }

    /// Syncs after migrations that have changed something, so that the other devices of the group get it, and after
    /// those that the leading device has left to sync. A failure is logged; then the next sync does it.
    private func syncMigrated(_ outcomes: [MigrationOutcome]) async {
        let hasChanged = outcomes.contains { [.migrated, .cleanupPending, .cleaned, .sourceDropped].contains($0) }
        let isLeft = outcomes.contains { if case .skipped = $0 { true } else { false } }
        guard hasChanged || isLeft, !MigrationEngine.isMigrating, let snapshot = try? await snapshot(),
            let standing = try? await SyncDevice.standing(snapshot), hasChanged || standing == .leads
        else { return }
        await syncRegisteredKeysIfNeeded()
    }
}

/// The status and history of migrations.
extension StorageRouter {
    /// The records of migrations to a key by any process, in the order of the first runs.
    public func migrationHistory<Value>(for key: StorageKey<Value>) async throws -> [MigrationRecord] {
        try await engine().records(for: AnyStorageKey(key))
    }
}

/// Registering migrations.
extension StorageRouter {
    /// Adds a migration for a key that has none of its own, or others before it.
    ///
    /// - Throws: `MigrationError` if it can never work, a migration with another destination has its id, or it closes a
    ///   circle of dependencies; then it is not added.
    public func registerMigration(_ migration: AnyStorageMigration) async throws {
        try migrationRegistry.add([migration])
    }

    /// Adds a migration for a key.
    public func registerMigration(_ migration: some StorageMigration) async throws {
        try await registerMigration(AnyStorageMigration(migration))
    }

    /// Adds a bulk migration. It runs only on request.
    ///
    /// - Throws: `MigrationError` if it can never work, a migration with another destination has its id, it closes a
    ///   circle of dependencies, or another one moves values in the opposite direction; then it is not added.
    public func registerMigration(_ migration: AnyBulkMigration) async throws {
        try migrationRegistry.add([.bulk(migration)])
    }

    /// Adds a bulk migration.
    public func registerMigration(_ migration: some BulkMigration) async throws {
        try await registerMigration(AnyBulkMigration(migration))
    }

    /// Adds a catalog, as ``registerCatalog(_:)`` does, and on request runs the migrations of its keys after the
    /// registered bulk migrations: all of them, each after its dependencies, even if some fail.
    ///
    /// - Returns: The outcome of each; its `failures` are also logged.
    /// - Throws: What ``registerCatalog(_:)`` throws; `MigrationError` if a migration of the catalog can never work:
    ///   then nothing is registered or run.
    @discardableResult
    public func registerCatalog(
        _ catalog: some StorageKeyCatalog, migrateImmediately: Bool
    ) async throws -> MigrationReport {
        let keys = catalog.allKeys
        try await registerCatalog(catalog)
        guard migrateImmediately else { return MigrationReport([]) }
        let many = try await migrating { try await $0.migrateAllBulk() }
        return MigrationReport(try await many.entries + migrate(keys).entries)
    }

    /// Passes the user's choices to migrations; see `MigrationContext.userPreferences`.
    public func updateMigrationPreferences(_ preferences: [String: AnyCodable]) async {
        migrationRegistry.preferences = preferences
    }

    /// Records the location of a key's value at its first write by this router, and the first after a removal.
    @inline(__always)
    func note(_ resolved: ResolvedKey, _ descriptor: @autoclosure () -> StorageKeyDescriptor) async {
        guard !resolved.isNoted.load(ordering: .relaxed) else { return }
        try? await engine().note(.set, resolved, descriptor())
    }

    /// Records the location of a value that was found, at its first use by this router.
    @inline(__always)
    func noteFound(_ resolved: ResolvedKey, _ descriptor: @autoclosure () -> StorageKeyDescriptor) async {
        guard !resolved.isUsed.load(ordering: .relaxed) else { return }
        try? await engine().note(.found, resolved, descriptor())
    }

    /// Records that a key's value was removed.
    func noteRemoved(_ resolved: ResolvedKey, _ descriptor: @autoclosure () -> StorageKeyDescriptor) async {
        try? await engine().note(.removed, resolved, descriptor())
    }
}

extension AnyStorageKey {
    /// Runs the key's migration now: see ``StorageRouter/forceMigration(for:onConflict:)``.
    @discardableResult
    public func migrate(on router: StorageRouter) async throws -> MigrationResult {
        try await router.forceMigration(for: self)
    }
}
