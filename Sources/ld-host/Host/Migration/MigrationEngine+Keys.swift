internal import FoundationEssentials
internal import HostPlugins
internal import HostStores
package import LocalDataAPI

extension MigrationEngine {
    /// Runs the migrations of a key now, whether or not the key has a value.
    ///
    /// - Returns: The result of the last migration of the key that did something.
    package func migrate(_ key: AnyStorageKey, onConflict: MigrationConflictPolicy? = nil) async throws
        -> MigrationResult
    {
        var result = MigrationResult(success: true, outcome: .noMigration)
        for migration in try await migrationsAndVersions(of: key) {
            let next = try await migrate(migration, onConflict: onConflict)
            if result.outcome == .noMigration || next.outcome != .nothingToDo { result = next }
        }
        return result
    }

    /// Runs the migrations of keys, each after those that it depends on, also if some fail.
    ///
    /// - Returns: What became of each, in the order of the keys.
    package func migrate(_ keys: [AnyStorageKey]) async throws -> MigrationReport {
        registry.forgetHistory()
        var migrations: [[AnyStorageMigration]] = []
        for key in keys { migrations.append(try await migrationsAndVersions(of: key)) }
        var entries: [String: MigrationReport.Entry] = [:]
        for migration in try MigrationOrder(migrations.flatMap { $0 }).sorted() {
            entries[migration.id] = await loggedEntry(of: .single(migration))
        }
        return MigrationReport(
            zip(keys, migrations).flatMap { key, migrations in
                migrations.isEmpty
                    ? [MigrationReport.Entry(destination: key.descriptor, migration: nil, outcome: .noMigration)]
                    : migrations.compactMap { entries[$0.id] }
            })
    }

    /// The migrations of a key, and then the one that brings its value to the current version.
    private func migrationsAndVersions(of key: AnyStorageKey) async throws -> [AnyStorageMigration] {
        try await migrations(for: key) + (key.chain.map { [$0.migration(nil)] } ?? [])
    }

    /// The migrations to a key by all processes, in the order of their first runs.
    package func records(for key: AnyStorageKey) async throws -> [MigrationRecord] {
        let resolved = try await access.resolve(KeyReference(key))
        return try await Ledger(access, of: resolved).page().rows.map(\.record)
    }

    /// Undoes what a migration has done to a key.
    package func rollback(_ key: AnyStorageKey, id: String?) async throws {
        try await alone(key, id) { try await $0.rollback($1) }
    }

    /// Makes a migration final: what it replaced and removed is kept no longer.
    package func confirm(_ key: AnyStorageKey, id: String?) async throws {
        try await alone(key, id) { try await $0.confirm($1) }
    }

    private func alone(
        _ key: AnyStorageKey, _ id: String?, _ body: (Ledger, String) async throws -> Void
    ) async throws {
        let resolved = try await access.resolve(KeyReference(key))
        let ledger = try Ledger(access, of: resolved)
        try await MigrationTurns.shared.alone(
            in: resolved.open, completingBatchesOf: snapshot, at: resolved.address.place
        ) {
            let rows = try await ledger.page().rows.filter { $0.state == .clean || $0.state == .superseded }
            guard let id = id ?? (rows.count == 1 ? rows.first?.id : nil) else {
                throw MigrationError(
                    .validationFailed,
                    "\(rows.count) migrations of '\(resolved.address)' are complete; name one of them")
            }
            try await body(ledger, id)
        }
    }
}
