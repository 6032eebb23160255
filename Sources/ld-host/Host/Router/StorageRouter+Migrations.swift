public import LocalDataAPI
internal import Synchronization

/// Registering migrations.
extension StorageRouter {
    /// Adds a migration for a key that has none of its own, or others before it.
    ///
    /// - Throws: `MigrationError` if it can never be right, its id is taken by one with another destination, or it
    ///   closes a circle of dependencies; then it is not added.
    public func registerMigration(_ migration: AnyStorageMigration) async throws {
        try migrationRegistry.add([migration])
    }

    /// Adds a migration; see the other.
    public func registerMigration(_ migration: some StorageMigration) async throws {
        try await registerMigration(AnyStorageMigration(migration))
    }

    /// Adds a migration of many keys. Each of them is moved when it is asked for.
    ///
    /// - Throws: `MigrationError` if it can never be right, its id is taken by one with another destination, it closes
    ///   a circle of dependencies, or another one moves values the other way; then it is not added.
    public func registerMigration(_ migration: AnyBulkMigration) async throws {
        try migrationRegistry.add([.bulk(migration)])
    }

    /// Adds a migration of many keys; see the other.
    public func registerMigration(_ migration: some BulkMigration) async throws {
        try await registerMigration(AnyBulkMigration(migration))
    }

    /// Adds a catalog, as ``registerCatalog(_:)`` does, and runs the migrations of its keys if that is wanted, after
    /// those of many keys that are registered: all of them, each after those that it depends on, also if some fail.
    ///
    /// - Returns: What became of each; see its `failures`, which are logged, too.
    /// - Throws: What ``registerCatalog(_:)`` throws; `MigrationError` if a migration of the catalog can never be
    ///   right: then nothing is registered and nothing is run.
    @discardableResult
    public func registerCatalog(
        _ catalog: some StorageKeyCatalog, migrateImmediately: Bool
    ) async throws -> MigrationReport {
        let keys = catalog.allKeys
        try await registerCatalog(catalog)
        guard migrateImmediately else { return MigrationReport([]) }
        return MigrationReport(try await engine().migrateRanges().entries + migrate(keys).entries)
    }

    /// Tells migrations what the user chose; see `MigrationContext.userPreferences`.
    public func updateMigrationPreferences(_ preferences: [String: AnyCodable]) async {
        migrationRegistry.preferences = preferences
    }

    /// Remembers where a key's value is written, with its first write by this router.
    @inline(__always)
    func note(_ resolved: ResolvedKey, _ descriptor: @autoclosure () -> StorageKeyDescriptor) async {
        guard !resolved.isNoted.load(ordering: .relaxed) else { return }
        try? await engine().note(resolved, descriptor())
    }

    /// The packs of the configuration, opened.
    ///
    /// - Throws: `packUnavailable` naming the first that is missing, damaged or refused.
    package func migrationPacks() async throws -> [MigrationPackIdentity] {
        try await engine().loadPacks().packs.compactMap { $0.current?.identity }
    }
}

extension AnyStorageKey {
    /// Runs the key's migration now: see ``StorageRouter/forceMigration(for:onConflict:)``.
    @discardableResult
    public func migrate(on router: StorageRouter) async throws -> MigrationResult {
        try await router.forceMigration(for: self)
    }
}
