internal import FoundationEssentials
internal import LocalDataAPI

extension MigrationEngine {
    /// Tells what ``migrateAll(only:upTo:progress:)`` would do now. Nothing changes.
    func plan(only: String?, upTo last: String?) async throws -> MigrationPlan {
        let (known, conflicts) = try await plannedMigrations()
        let selection = try MigrationSelection(known, only: only, upTo: last)
        let notes = try await MigrationNotes(snapshot).all()
        let entries = await Self.$isMigrating.withValue(true) {
            await MigrationPlanner(self).entries(of: selection.migrations)
        }
        let isAll = only == nil && last == nil
        return MigrationPlan(
            entries: entries + (isAll ? conflicts.map { MigrationPlan.Entry($0) } : []), notes: notes)
    }

    /// What is registered, and the moves of keys whose places were changed.
    private func plannedMigrations() async throws -> (known: [KnownMigration], conflicts: [FormerPlaceConflict]) {
        registry.forgetHistory()
        let known = try await knownMigrations()
        let (former, conflicts) = try await formerPlaceMigrations()
        return (known + former.map { .single($0) }, conflicts)
    }

    /// Runs every migration that is known, and that of every key in a catalog whose place was changed: each once and
    /// after those that it depends on. What depends on one that fails is not run; all others are.
    func migrateAll(
        only: String?, upTo last: String?, progress: (@Sendable (MigrationProgress) -> Void)?
    ) async throws -> MigrationReport {
        let (known, conflicts) = try await plannedMigrations()
        let selection = try MigrationSelection(known, only: only, upTo: last)
        let count = selection.migrations.count
        var dependants = MigrationDependants(registry)
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
