public import LocalDataAPI

/// Running migrations.
extension StorageRouter {
    /// The migrations of this router, on the stores of the current snapshot.
    func engine() async throws(StorageError) -> MigrationEngine {
        MigrationEngine(access: try await access(), registry: migrationRegistry, history: placeHistory)
    }

    private func engine(_ snapshot: RouterSnapshot) -> MigrationEngine {
        MigrationEngine(access: StoreAccess(snapshot: snapshot), registry: migrationRegistry, history: placeHistory)
    }

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
        try await engine().migrate(AnyStorageKey(key), onConflict: onConflict)
    }

    /// The same for a key without its type.
    @discardableResult
    public func forceMigration(
        for key: AnyStorageKey, onConflict: MigrationConflictPolicy? = nil
    ) async throws -> MigrationResult {
        try await engine().migrate(key, onConflict: onConflict)
    }

    /// Runs a migration that is registered or in a pack now, by its id, after those that it depends on.
    @discardableResult
    package func runMigration(
        _ id: String, onConflict: MigrationConflictPolicy? = nil,
        progress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil
    ) async throws -> MigrationResult {
        try await engine().run(id, onConflict: onConflict, progress: progress)
    }

    /// Runs the migrations of keys, each after those that it depends on, also if some fail.
    ///
    /// - Returns: What became of each, in the order of the keys.
    package func migrate(_ keys: [AnyStorageKey]) async throws -> MigrationReport { try await engine().migrate(keys) }

    /// Runs migrations that were registered, by themselves, with a catalog or from a pack, and those of the keys in a
    /// catalog whose location was changed: each once and after those that it depends on. What depends on one that fails
    /// is not run; all others are. May be run again after any interruption.
    ///
    /// - Parameters:
    ///   - selection: Which of them.
    ///   - onConflict: In place of each migration's own policy.
    ///   - progress: Called with how far the run is, on any thread.
    /// - Returns: What became of each; its `failures` are logged, too. Of a migration of many keys that failed, chunks
    ///   that were moved before stay moved, and the next run resumes behind them.
    /// - Throws: `MigrationError` if an id is not known, or a pack is missing or refused; then nothing is run.
    @discardableResult
    public func migrate(
        _ selection: MigrationSelection = .all, onConflict: MigrationConflictPolicy? = nil,
        progress: (@Sendable (MigrationProgress) -> Void)? = nil
    ) async throws -> MigrationReport {
        try await engine().migrate(selection, onConflict: onConflict, progress: progress)
    }

    /// Shows what ``migrate(_:onConflict:progress:)`` would do now: every selected migration runs on a transaction that
    /// is never published, and sees what those before it would leave.
    ///
    /// No value, ledger, journal or key changes. A batch that was interrupted stays as it is, and is in the notes: a
    /// run completes it first. Nothing is locked: what another process changes meanwhile may be seen or not.
    ///
    /// - Throws: `MigrationError` if an id is not known, or a pack is missing or refused: without it nobody knows what
    ///   would be run; whatever keeps the configuration from being used. What would keep a migration from running is an
    ///   entry of the plan.
    public func migrationPlan(_ selection: MigrationSelection = .all) async throws -> MigrationPlan {
        let task = Task(executorPreference: IOExecutor.shared) {
            try await self.untouchedSnapshot { try await self.engine($0).plan(selection) }
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Finishes what was interrupted: batches that were decided, moves of many values, and what migrations that brought
    /// their data have left to be removed. Of those no code is run, so that they need not be known any more.
    public func resumeMigrations() async throws -> MigrationResumption {
        // What was interrupted has to be known before it is completed, which the first use of a snapshot does.
        let (engine, before) = try await untouchedSnapshot { snapshot in
            (self.engine(snapshot), try await MigrationNotes(snapshot).interruptedBatches())
        }
        return try await engine.resume(after: before)
    }
}

/// What has been migrated.
extension StorageRouter {
    /// How every migration stands that is known, or that the ledgers have.
    ///
    /// - Returns: Also what keeps ledgers from being found, and packs from being used. What is known here says what a
    ///   run would do now, as ``migrationPlan(_:)`` finds it out.
    public func migrationStatus() async throws -> MigrationOverview {
        try await engine().status(plan: try? migrationPlan())
    }

    /// What the ledger says of a migration that is registered or in a pack; `nil` if it has not run.
    public func migrationRecord(of id: String) async throws -> MigrationRecord? { try await engine().record(of: id) }

    /// Everything that has been migrated, to whatever key and by whatever process, in the order of the runs.
    ///
    /// - Returns: Also what keeps ledgers from being read.
    public func migrationHistory() async throws -> MigrationHistory {
        try await engine().records()
    }

    /// What has been migrated to a key, by whatever process: in the order of the first runs.
    public func migrationHistory<Value>(for key: StorageKey<Value>) async throws -> [MigrationRecord] {
        try await engine().records(for: AnyStorageKey(key))
    }

    /// Undoes what a migration has done to a key: what it wrote is removed or becomes what it was, and what it removed
    /// is put back. The next `get` migrates again, as long as the key has the migration. A sealed value counts as
    /// changed if it was re-encrypted since, or if the run was interrupted before it had been read back.
    ///
    /// - Parameters:
    ///   - id: Which one, if there are several.
    /// - Throws: `validationFailed` if it has not run to its end, a value was changed since, or what was there is no
    ///   longer kept (configuration `migrations.grace`, ``confirmMigration(of:id:)``): then nothing is changed.
    public func rollbackMigration<Value>(of key: StorageKey<Value>, id: String? = nil) async throws {
        try await engine().rollback(AnyStorageKey(key), id: id)
    }

    /// Undoes a migration by its id; see the other.
    ///
    /// - Parameters:
    ///   - address: Its destination, `domain[:scope]/name`, if several have a migration of this id.
    ///   - progress: Of one of many keys, called as values have been checked and put back, on any thread.
    public func rollbackMigration(
        _ id: String, of address: String? = nil, progress: @escaping @Sendable (StepProgress) -> Void = { _ in }
    ) async throws {
        try await engine().rollback(id, of: address, progress: progress)
    }

    /// Makes a migration final: what it replaced and removed is kept no longer.
    public func confirmMigration<Value>(of key: StorageKey<Value>, id: String? = nil) async throws {
        try await engine().confirm(AnyStorageKey(key), id: id)
    }

    /// Makes a migration final by its id; see the other.
    ///
    /// - Parameter address: Its destination, `domain[:scope]/name`, if several have a migration of this id.
    public func confirmMigration(_ id: String, of address: String? = nil) async throws {
        try await engine().confirm(id, of: address)
    }

    /// Looks at every page of the ledgers of all stores.
    ///
    /// - Parameter puttingAside: Whether damaged pages are put aside: each is kept as it is, in the same store under
    ///   another name, and its migrations count as not run. What they brought stays where it is.
    public func checkLedgers(puttingAside: Bool = false) async throws -> LedgerReport {
        try await engine().checkLedgers(puttingAside: puttingAside)
    }
}
