internal import FoundationEssentials
public import LocalDataAPI

extension StorageRouter {
    /// Tells what ``migrateAll(only:upTo:progress:)`` would do now: every migration that was registered, by itself,
    /// with a catalog or from a pack, and that of every key in a catalog whose place was changed, runs on a transaction
    /// that is never published, and sees what those before it would leave.
    ///
    /// No value, ledger, journal or key changes. A batch that was interrupted stays as it is, and is told of in the
    /// notes: a run completes it first. Nothing is locked: what another process changes meanwhile may be seen or not.
    ///
    /// - Parameters:
    ///   - only: The id of one migration, which is planned with those that it depends on.
    ///   - last: The id of the one that the plan ends with.
    /// - Throws: `MigrationError` if an id is not known, or a pack is missing or refused: without it nobody knows what
    ///   would be run; whatever keeps the configuration from being used. What would keep a migration from running is an
    ///   entry of the plan.
    public func migrationPlan(only: String? = nil, upTo last: String? = nil) async throws -> MigrationPlan {
        let task = Task(executorPreference: IOExecutor.shared) {
            try await self.untouchedSnapshot { snapshot in
                let (known, conflicts) = try await self.plannedMigrations()
                let selection = try MigrationSelection(known, only: only, upTo: last)
                let notes = try await MigrationNotes(snapshot).all()
                let entries = await Self.$isMigrating.withValue(true) {
                    await MigrationPlanner(self, snapshot).entries(of: selection.migrations)
                }
                let isAll = only == nil && last == nil
                return MigrationPlan(
                    entries: entries + (isAll ? conflicts.map { MigrationPlan.Entry($0) } : []), notes: notes)
            }
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// What is registered, and the moves of keys whose places were changed.
    private func plannedMigrations() async throws -> (known: [KnownMigration], conflicts: [FormerPlaceConflict]) {
        migrationRegistry.forgetHistory()
        let known = try await knownMigrations()
        let (former, conflicts) = try await formerPlaceMigrations()
        return (known + former.map { .single($0) }, conflicts)
    }

    /// Runs every migration that was registered, by itself, with a catalog or from a pack, and that of every key in a
    /// catalog whose place was changed: each once and after those that it depends on. What depends on one that fails is
    /// not run; all others are. May be run again after any interruption.
    ///
    /// - Parameters:
    ///   - only: The id of one migration, which is run with those that it depends on.
    ///   - last: The id of the one that the sweep ends with.
    ///   - progress: Told how far the sweep is, on any thread.
    /// - Returns: What became of each; see its `failures`, which are logged, too.
    /// - Throws: `MigrationError` if an id is not known, or a pack is missing or refused; then nothing is run.
    public func migrateAll(
        only: String? = nil, upTo last: String? = nil, progress: (@Sendable (MigrationProgress) -> Void)? = nil
    ) async throws -> MigrationReport {
        let snapshot = try await snapshot()
        let (known, conflicts) = try await plannedMigrations()
        let selection = try MigrationSelection(known, only: only, upTo: last)
        let count = selection.migrations.count
        var dependants = MigrationDependants(migrationRegistry)
        var entries: [MigrationReport.Entry] = []
        for (index, migration) in selection.migrations.enumerated() {
            let tell: @Sendable (Int, Int) -> Void = { done, total in
                progress?(
                    MigrationProgress(
                        migration: migration.id, done: done, total: total, index: index, count: count))
            }
            try Task.checkCancellation()
            tell(0, 1)
            let entry: MigrationReport.Entry
            do {
                try dependants.check(migration)
                switch migration {
                case .single(let migration): entry = await self.entry(of: migration, areDependenciesDone: true)
                case .bulk(let bulk):
                    let result = try await migrate(
                        bulk, onConflict: nil, areDependenciesDone: true, progress: tell)
                    entry = MigrationReport.Entry(
                        destination: migration.destinationDescriptor, migration: bulk.id, outcome: result.outcome)
                }
            } catch {
                entry = MigrationReport.Entry(migration, error)
            }
            if let error = entry.error {
                dependants.fail(migration.id)
                snapshot.log(.error, "migration", error.message)
            }
            entries.append(entry)
            tell(1, 1)
        }
        if only == nil, last == nil { entries += try conflicts.map { try MigrationReport.Entry($0) } }
        return MigrationReport(entries)
    }
}

extension MigrationPlan.Entry {
    fileprivate init(_ conflict: FormerPlaceConflict) {
        self.init(
            migration: conflict.id, revision: 1, destination: conflict.destination, decision: .refused,
            why: conflict.error.message, error: conflict.error.code.rawValue)
    }
}

extension MigrationReport.Entry {
    fileprivate init(_ conflict: FormerPlaceConflict) throws(StorageError) {
        self.init(
            destination: try StorageKeyDescriptor(address: conflict.destination), migration: conflict.id,
            outcome: .failed, error: MigrationError(of: conflict.id, conflict.error))
    }

    /// A migration that failed.
    init(_ migration: KnownMigration, _ error: any Error) {
        self.init(
            destination: migration.destinationDescriptor, migration: migration.id, outcome: .failed,
            error: MigrationError(of: migration.id, error))
    }
}
