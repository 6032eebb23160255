internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import HostStores
package import LocalDataAPI

extension MigrationEngine {
    /// Runs a migration that is registered or in a pack now, by its id, after those that it depends on.
    package func run(
        _ id: String, onConflict: MigrationConflictPolicy? = nil,
        progress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil
    ) async throws -> MigrationResult {
        try await migrate(known(id), onConflict: onConflict, progress: progress)
    }

    /// Runs a migration after those that it depends on, once at a time.
    package func migrate(
        _ migration: KnownMigration, onConflict: MigrationConflictPolicy?, after path: [String] = [],
        areDependenciesDone: Bool = false, progress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil
    ) async throws -> MigrationResult {
        switch migration {
        case .single(let migration):
            try await migrate(
                migration, onConflict: onConflict, after: path, areDependenciesDone: areDependenciesDone)
        case .bulk(let migration):
            try await migrate(
                migration, onConflict: onConflict, after: path, areDependenciesDone: areDependenciesDone,
                progress: progress)
        }
    }

    /// Runs the bulk migrations that are registered or in a pack, each after its dependencies, also if some fail.
    package func migrateAllBulk() async throws -> MigrationReport {
        var entries: [MigrationReport.Entry] = []
        for known in try MigrationOrder(await knownMigrations()).sorted() {
            guard case .bulk = known else { continue }
            entries.append(await loggedEntry(of: known))
        }
        return MigrationReport(entries)
    }

    /// Runs a migration, says what became of it, and logs why it failed.
    func loggedEntry(of migration: KnownMigration) async -> MigrationReport.Entry {
        do { return try await entry(of: migration) } catch {
            let entry = MigrationReport.Entry(migration, error)
            if let error = entry.error { snapshot.log(.error, "migration", error.message) }
            return entry
        }
    }

    /// The ledger's record of a migration that is registered or in a pack; `nil` if it has not run.
    package func record(of id: String) async throws -> MigrationRecord? {
        switch try await known(id) {
        case .single(let migration):
            let resolved = try await access.resolve(KeyReference(migration.destinationKey))
            return try await Ledger(access, of: resolved).page()[id]?.record
        case .bulk(let migration): return try await rows(of: migration).first { $0.id == id }?.record
        }
    }

    /// Undoes a migration of many keys: its sources are put back, and what it wrote is removed or becomes what it was.
    /// Chunks are undone one after the other; what is interrupted can be run again.
    ///
    /// - Throws: `validationFailed` if a value is not as the migration left it, or what it takes is no longer kept:
    ///   then nothing is changed.
    func rollbackRange(_ id: String, _ progress: @escaping @Sendable (StepProgress) -> Void) async throws {
        try await alone(with: id) { try $0.rollback(progress) }
    }

    /// Makes a migration of many keys final: what it takes to undo it is kept no longer.
    func confirmRange(_ id: String) async throws {
        try await alone(with: id) { try $0.confirm() }
    }

    private func known(_ id: String) async throws -> KnownMigration {
        if let known = registry.known(id) { return known }
        if let known = try await knownMigrations().first(where: { $0.id == id }) { return known }
        throw MigrationError(
            .unresolvedDependency,
            "the migration '\(id)' is not registered, and no pack has it; to undo or confirm a move of many values, "
                + "configure its pack again, or let the app that has it do so")
    }

    private func alone(with id: String, _ body: @escaping @Sendable (BulkLedger) throws -> Void) async throws {
        guard case .bulk(let migration) = try await known(id) else {
            throw MigrationError(.validationFailed, "the migration '\(id)' is of one key; name the key")
        }
        let ledger = try await bulkLedger(of: migration)
        try await MigrationTurns.shared.alone(in: ledger.destination.open, completingBatchesOf: snapshot) {
            try body(ledger)
        }
    }
}

extension MigrationEngine {
    /// The registered migrations of many keys that may bring a value to a key.
    func bulkMigrations(for key: AnyStorageKey) async throws -> [AnyBulkMigration] {
        let migrations = registry.bulkMigrations
        guard !migrations.isEmpty else { return [] }
        let place = try settings.place(of: key.descriptor.domain)
        return migrations.filter {
            $0.destination.contains(key.descriptor.name) && (try? settings.place(of: $0.destination.domain)) == place
        }
    }

    /// Brings one value, if its source is there.
    func bring(_ key: AnyStorageKey, by migration: AnyBulkMigration) async throws {
        do {
            let ledger = try await bulkLedger(of: migration)
            let name = key.descriptor.name
            let isThere = try await onIOThread { () throws(StorageError) in
                let source = try ledger.source.key(migration.sourceName(of: name))
                guard try !ledger.snapshot.isReserved(source.address, in: source.open) else { return false }
                return try source.isStored()
            }
            guard isThere, try await !isSuperseded(key, by: migration) else { return }
            guard try await !waitingNames(migration).contains(migration.sourceName(of: name)) else { return }
            try await runDependencies(of: .bulk(migration), [])
            _ = try await registry.once("\(migration.id)\n\(name)") {
                try await Self.$isMigrating.withValue(true) {
                    try await BulkRun(ledger, policy: migration.conflictPolicy).one(name)
                }
            }
        } catch {
            throw MigrationError(of: migration.id, error)
        }
    }

    /// Runs a migration after those that it depends on, once at a time.
    package func migrate(
        _ migration: AnyBulkMigration, onConflict: MigrationConflictPolicy?, after path: [String] = [],
        areDependenciesDone: Bool = false, progress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil
    ) async throws -> MigrationResult {
        do {
            try migration.validate()
            if !areDependenciesDone { try await runDependencies(of: .bulk(migration), path) }
            let ledger = try await bulkLedger(of: migration)
            let policy = onConflict ?? migration.conflictPolicy
            let others = registry.bulkMigrations
            let waiting = try await waitingNames(migration)
            return try await registry.once("\(migration.id)\n*\n\(policy)") {
                try await Self.$isMigrating.withValue(true) {
                    try await BulkRun(ledger, policy: policy, waiting: waiting).all(besides: others, progress: progress)
                }
            }
        } catch {
            throw MigrationError(of: migration.id, error)
        }
    }

    /// The ledger's rows of a migration's destination.
    func rows(of migration: AnyBulkMigration) async throws -> [LedgerRow] {
        try await bulkLedger(of: migration).ledger.page().rows
    }

    func bulkLedger(of migration: AnyBulkMigration) async throws(StorageError) -> BulkLedger {
        try await onIOThread { () throws(StorageError) in
            try BulkLedger(
                migration, from: try BulkPlace(migration.source, snapshot),
                to: try BulkPlace(migration.destination, snapshot), snapshot)
        }
    }
}
