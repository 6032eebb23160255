internal import FoundationEssentials
public import LocalDataAPI

extension StorageRouter {
    /// Runs the migration of a key now, whether or not the key has a value.
    ///
    /// The condition is asked as always, and so is what happens to a value that is there: nothing is forced but the
    /// run.
    ///
    /// - Parameters:
    ///   - key: Its own migration is run, or else those that are registered for it.
    ///   - onConflict: In place of the migration's own policy.
    /// - Returns: The result of the last migration of the key that did something; its `outcome` says what became of it.
    /// - Throws: `MigrationError` naming the migration; then nothing has changed.
    @discardableResult
    public func forceMigration<Value>(
        for key: StorageKey<Value>, onConflict: MigrationConflictPolicy? = nil
    ) async throws -> MigrationResult {
        try await forceMigration(for: AnyStorageKey(key), onConflict: onConflict)
    }

    /// The same for a key without its type.
    @discardableResult
    public func forceMigration(
        for key: AnyStorageKey, onConflict: MigrationConflictPolicy? = nil
    ) async throws -> MigrationResult {
        var result = MigrationResult(success: true, outcome: .noMigration)
        for migration in try await migrations(for: key) {
            let next = try await migrate(migration, onConflict: onConflict)
            if result.outcome == .noMigration || next.outcome != .nothingToDo { result = next }
        }
        return result
    }

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
        return MigrationReport(try await migrateRanges().entries + migrate(keys).entries)
    }

    /// Runs the migrations of keys, each after those that it depends on, also if some fail.
    ///
    /// - Returns: What became of each, in the order of the keys.
    public func migrate(_ keys: [AnyStorageKey]) async throws -> MigrationReport {
        let snapshot = try await snapshot()
        migrationRegistry.forgetHistory()
        var migrations: [[AnyStorageMigration]] = []
        for key in keys { migrations.append(try await self.migrations(for: key)) }
        var entries: [String: MigrationReport.Entry] = [:]
        for migration in try MigrationOrder(migrations.flatMap { $0 }).sorted() {
            let entry = await entry(of: migration)
            if let error = entry.error { snapshot.log(.error, "migration", error.message) }
            entries[migration.id] = entry
        }
        return MigrationReport(
            zip(keys, migrations).flatMap { key, migrations in
                migrations.isEmpty
                    ? [MigrationReport.Entry(destination: key.descriptor, migration: nil, outcome: .noMigration)]
                    : migrations.compactMap { entries[$0.id] }
            })
    }

    /// Runs a migration, and says what became of it.
    func entry(
        of migration: AnyStorageMigration, areDependenciesDone: Bool = false
    ) async -> MigrationReport.Entry {
        do {
            let outcome = try await migrate(
                migration, onConflict: nil, areDependenciesDone: areDependenciesDone
            ).outcome
            return MigrationReport.Entry(
                destination: migration.destinationDescriptor, migration: migration.id, outcome: outcome)
        } catch {
            return MigrationReport.Entry(.single(migration), error)
        }
    }

    /// Tells migrations what the user chose; see ``MigrationContext/userPreferences``.
    public func updateMigrationPreferences(_ preferences: [String: AnyCodable]) async {
        migrationRegistry.preferences = preferences
    }

    /// What has been migrated to a key, by whatever process: in the order of the first runs.
    public func migrationHistory<Value>(for key: StorageKey<Value>) async throws -> [MigrationRecord] {
        let resolved = try await resolve(KeyReference(AnyStorageKey(key)))
        let settings = try await snapshot().settings
        return try await Ledger(self, settings, of: resolved).page().rows.map(\.record)
    }

    /// Undoes what a migration has done to a key: what it wrote is removed or becomes what it was, and what it removed
    /// is put back. The next `get` migrates anew, as long as the key has the migration. A sealed value counts as
    /// changed if it was sealed anew since, or if the run was interrupted before it had been read back.
    ///
    /// - Parameters:
    ///   - id: Which one, if there are several.
    /// - Throws: `validationFailed` if it has not run to its end, a value was changed since, or what was there is no
    ///   longer kept (configuration `migrations.grace`, ``confirmMigration(of:id:)``): then nothing is changed.
    public func rollbackMigration<Value>(of key: StorageKey<Value>, id: String? = nil) async throws {
        try await inTurn(key, id) { try await MigrationRollback($0).run($1) }
    }

    /// Makes a migration final: what it replaced and removed is kept no longer.
    public func confirmMigration<Value>(of key: StorageKey<Value>, id: String? = nil) async throws {
        try await inTurn(key, id) { try await MigrationRollback($0).confirm($1) }
    }

    private func inTurn<Value>(
        _ key: StorageKey<Value>, _ id: String?, _ body: (Ledger, String) async throws -> Void
    ) async throws {
        let resolved = try await resolve(KeyReference(AnyStorageKey(key)))
        let snapshot = try await snapshot()
        let ledger = try Ledger(self, snapshot.settings, of: resolved)
        try await MigrationTurns.shared.alone(in: resolved.open, snapshot.settings) {
            try await onIOThread { () throws(StorageError) in BatchRecovery(snapshot: snapshot).recoverAndSettle() }
            let rows = try await ledger.page().rows.filter { $0.state == .clean || $0.state == .superseded }
            guard let id = id ?? (rows.count == 1 ? rows.first?.id : nil) else {
                throw MigrationError(
                    .validationFailed,
                    "\(rows.count) migrations of '\(resolved.address)' have run to their end; say which is meant")
            }
            try await body(ledger, id)
        }
    }
}

extension AnyStorageKey {
    /// Runs the key's migration now: see ``StorageRouter/forceMigration(for:onConflict:)``.
    @discardableResult
    public func migrate(on router: StorageRouter) async throws -> MigrationResult {
        try await router.forceMigration(for: self)
    }
}
