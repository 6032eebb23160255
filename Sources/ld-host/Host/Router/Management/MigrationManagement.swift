public import HostGround
public import HostMigration
internal import HostPlugins
public import LocalDataAPI

extension StorageRouter {
    /// What migrations would do and have done, and undoing it. ``migrate(_:onConflict:progress:)`` runs them.
    public var migrations: MigrationManagement { MigrationManagement(router: self) }

    /// Managing migrations; see ``StorageRouter/migrations``.
    public struct MigrationManagement: Sendable {
        let router: StorageRouter
    }
}

extension StorageRouter.MigrationManagement {
    /// Plans what ``StorageRouter/migrate(_:onConflict:progress:)`` would do now: every selected migration runs on a
    /// transaction that is never published, and sees what the ones before it would leave.
    ///
    /// No value, ledger, journal or key changes. An interrupted batch stays as it is, and is in the notes: a run
    /// completes it first. Nothing is locked: the plan may or may not include changes that another process makes
    /// meanwhile.
    ///
    /// - Throws: `MigrationError` if an id is unknown, or a pack is missing or refused, because its migrations are then
    ///   unknown; why the configuration cannot be used. If a migration would fail, its entry of the plan says why.
    public func plan(_ selection: MigrationSelection = .all) async throws -> MigrationPlan {
        let task = Task(executorPreference: IOExecutor.shared) {
            try await router.untouchedSnapshot { try await router.engine($0).plan(selection) }
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Completes interrupted work: decided batches, bulk migrations, and removals that migrations have left. It runs no
    /// migration's code, so they need not be registered any more.
    public func resume() async throws -> MigrationResumption {
        // Interrupted work must be listed before it is completed, which the first use of a snapshot does.
        let (folder, engine, before) = try await router.untouchedSnapshot { snapshot in
            (
                snapshot.settings.folders.state, router.engine(snapshot),
                try await MigrationNotes(snapshot).interruptedBatches()
            )
        }
        return try await router.steadily(in: folder) { try await engine.resume(after: before) }
    }

    /// The status of every migration that is registered or in the ledgers.
    ///
    /// - Returns: Also why ledgers cannot be found, or packs cannot be used. For registered migrations, what a run
    ///   would do now, as in ``plan(_:)``.
    public func status() async throws -> MigrationOverview {
        try await router.engine().status(plan: try? self.plan())
    }

    /// The ledger's record of a registered migration, or one of a pack; `nil` if it has not run.
    package func record(of id: String) async throws -> MigrationRecord? { try await router.engine().record(of: id) }

    /// The records of all migrations, to any key and by any process, in the order of the runs.
    ///
    /// - Returns: Also why ledgers cannot be read.
    public func history() async throws -> MigrationHistory {
        try await router.engine().records()
    }

    /// Rolls back a migration of a key: what it wrote is removed or reverted, and what it removed is restored. The next
    /// `get` migrates again, as long as the key has the migration. A sealed value counts as changed if it was
    /// re-encrypted since, or if the run was interrupted before it had been read back.
    ///
    /// - Parameters:
    ///   - id: The migration, if there are several.
    /// - Throws: `validationFailed` if it is not complete, a value was changed since, or the old values are no
    ///   longer kept (configuration `migrations.grace`, ``confirm(of:id:)``): then nothing has changed.
    public func rollback<Value>(of key: StorageKey<Value>, id: String? = nil) async throws {
        try await router.migrating { try await $0.rollback(AnyStorageKey(key), id: id) }
    }

    /// Rolls back a migration by its id.
    ///
    /// - Parameters:
    ///   - address: Its destination, `domain[:scope]/name`, if several have a migration with this id.
    ///   - progress: For a bulk migration, called as values have been checked and restored, on any thread.
    public func rollback(
        _ id: String, of address: String? = nil, progress: @escaping @Sendable (StepProgress) -> Void = { _ in }
    ) async throws {
        try await router.migrating { try await $0.rollback(id, of: address, progress: progress) }
    }

    /// Confirms a migration: the values that it replaced and removed are no longer kept.
    public func confirm<Value>(of key: StorageKey<Value>, id: String? = nil) async throws {
        try await router.migrating { try await $0.confirm(AnyStorageKey(key), id: id) }
    }

    /// Confirms a migration by its id.
    ///
    /// - Parameter address: Its destination, `domain[:scope]/name`, if several have a migration with this id.
    public func confirm(_ id: String, of address: String? = nil) async throws {
        try await router.migrating { try await $0.confirm(id, of: address) }
    }

    /// Checks every page of the ledgers of all stores.
    ///
    /// - Parameter puttingAside: Whether to put corrupt pages aside: each is kept as it is, in the same store under
    ///   another name, and its migrations count as not run. The migrated data stays where it is.
    public func checkLedgers(puttingAside: Bool = false) async throws -> LedgerReport {
        try await router.migrating { try await $0.checkLedgers(puttingAside: puttingAside) }
    }

    /// The packs of the configuration, opened.
    ///
    /// - Throws: `packUnavailable` with the first that is missing, damaged or refused.
    package func packs() async throws -> [MigrationPackIdentity] {
        try await router.engine().loadPacks().packs.compactMap { $0.current?.identity }
    }
}
