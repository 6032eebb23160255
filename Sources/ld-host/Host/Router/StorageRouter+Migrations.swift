public import LocalDataAPI
internal import Synchronization

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
        return MigrationReport(try await engine().migrateRanges().entries + migrate(keys).entries)
    }

    /// Passes the user's choices to migrations; see `MigrationContext.userPreferences`.
    public func updateMigrationPreferences(_ preferences: [String: AnyCodable]) async {
        migrationRegistry.preferences = preferences
    }

    /// Records the location of a key's value at its first write by this router.
    @inline(__always)
    func note(_ resolved: ResolvedKey, _ descriptor: @autoclosure () -> StorageKeyDescriptor) async {
        guard !resolved.isNoted.load(ordering: .relaxed) else { return }
        try? await engine().note(resolved, descriptor())
    }

    /// The packs of the configuration, opened.
    ///
    /// - Throws: `packUnavailable` with the first that is missing, damaged or refused.
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
