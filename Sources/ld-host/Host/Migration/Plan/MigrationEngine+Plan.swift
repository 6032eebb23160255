internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
package import HostStores
package import LocalDataAPI

extension MigrationEngine {
    /// Shows what ``migrate(_:onConflict:progress:)`` would do now. Nothing changes.
    package func plan(_ selection: MigrationSelection) async throws -> MigrationPlan {
        let (known, conflicts) = try await plannedMigrations()
        let selected = try SelectedMigrations(known, selection)
        let notes = try await MigrationNotes(snapshot).all()
        let entries = await Self.$isMigrating.withValue(true) {
            await MigrationPlanner(self).entries(of: selected.migrations)
        }
        return MigrationPlan(
            entries: entries + (selection == .all ? conflicts.map { MigrationPlan.Entry($0) } : []), notes: notes)
    }

    /// The registered migrations, and the moves of keys whose locations were changed.
    private func plannedMigrations() async throws -> (known: [KnownMigration], conflicts: [FormerPlaceConflict]) {
        registry.forgetHistory()
        let known = try await knownMigrations()
        let (former, conflicts) = try await formerPlaceMigrations()
        return (former.map { .single($0) } + known, conflicts)
    }

    /// Runs migrations, each once and after those that it depends on. What depends on one that fails is not run; all
    /// others are.
    package func migrate(
        _ selection: MigrationSelection, onConflict: MigrationConflictPolicy? = nil,
        progress: (@Sendable (MigrationProgress) -> Void)?
    ) async throws -> MigrationReport {
        let (known, conflicts) = try await plannedMigrations()
        let selected = try SelectedMigrations(known, selection).migrations
        var dependants = MigrationDependants(registry)
        var entries: [MigrationReport.Entry] = []
        for (index, migration) in selected.enumerated() {
            let report: @Sendable (Int, Int) -> Void = { done, total in
                progress?(
                    MigrationProgress(
                        migration: migration.id, done: done, total: total, index: index, count: selected.count))
            }
            try Task.checkCancellation()
            report(0, 1)
            let entry: MigrationReport.Entry
            do {
                try dependants.check(migration)
                entry = try await self.entry(
                    of: migration, onConflict: onConflict, areDependenciesDone: true, progress: report)
            } catch {
                entry = MigrationReport.Entry(migration, error)
            }
            if let error = entry.error {
                dependants.fail(migration.id)
                // A command prints its report.
                if !snapshot.settings.endsAfterCommand { snapshot.log(.error, "migration", error.message) }
            }
            entries.append(entry)
            report(1, 1)
        }
        if selection == .all { entries += try conflicts.map { try MigrationReport.Entry($0) } }
        return MigrationReport(entries)
    }

    /// Runs a migration, and says what became of it.
    ///
    /// - Parameter areDependenciesDone: Whether those that it depends on have just been run.
    func entry(
        of migration: KnownMigration, onConflict: MigrationConflictPolicy? = nil, areDependenciesDone: Bool = false,
        progress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil
    ) async throws -> MigrationReport.Entry {
        let result = try await migrate(
            migration, onConflict: onConflict, areDependenciesDone: areDependenciesDone, progress: progress)
        return MigrationReport.Entry(
            destination: migration.destinationDescriptor, migration: migration.id, outcome: result.outcome,
            migratedCount: result.migratedCount)
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

/// Facts to know before migrations run: work that was interrupted, and is completed first; and what is moved
/// without a migration.
package struct MigrationNotes: Sendable {
    let snapshot: RouterSnapshot

    package init(_ snapshot: RouterSnapshot) { self.snapshot = snapshot }

    /// In sentences. Touches nothing.
    func all() async throws(StorageError) -> [String] {
        try await onIOThread { () throws(StorageError) in
            let survey = try BatchIntent.journal(self.snapshot.settings).survey()
            return survey.pending.map { intent in
                intent.state == .interrupted
                    ? "\(intent.subject) was interrupted; it is completed first, and may change what is planned"
                    : "process \(intent.owner) is running \(intent.subject), which may change what is planned"
            } + survey.unreadable.map(\.error.message)
        }
    }

    /// The batches that were interrupted.
    package func interruptedBatches() async throws(StorageError) -> [PendingIntent] {
        try await onIOThread { () throws(StorageError) in
            try BatchIntent.journal(self.snapshot.settings).pending(kind: BatchIntent.kind)
                .filter { $0.state == .interrupted }
        }
    }
}

/// The migrations of a selection, each after those that it depends on.
struct SelectedMigrations<Migration: OrderedMigration> {
    let migrations: [Migration]

    /// - Throws: `validationFailed` if an id is not known, with those that are near; `unresolvedDependency` if some
    ///   depend on each other in a circle.
    init(_ known: [Migration], _ selection: MigrationSelection) throws(MigrationError) {
        let sorted = try MigrationOrder(known).sorted()
        let id: String
        switch selection {
        case .all:
            migrations = sorted
            return
        case .only(let given), .upTo(let given): id = given
        }
        guard let index = sorted.firstIndex(where: { $0.id == id }) else {
            throw MigrationError(
                .validationFailed, NearMigrations.unknown(id, among: sorted.map(\.id), in: "what is configured"))
        }
        let before = Array(sorted[...index])
        guard case .only = selection else {
            migrations = before
            return
        }
        // From the last one back: whatever one depends on comes before it.
        var needed: Set = [id]
        for migration in before.reversed() where needed.contains(migration.id) {
            needed.formUnion(migration.dependencies)
        }
        migrations = before.filter { needed.contains($0.id) }
    }
}

/// Suggests ids in place of a mistyped one.
enum NearMigrations {
    /// The error for an unknown id.
    ///
    /// - Parameter place: Where the others are known from.
    static func unknown(_ id: String, among known: [String], in place: String) -> String {
        let shown = id.count > 100 ? "\(id.prefix(100))..." : id
        let near = nearest(to: id, among: known).map { "'\($0)'" }
        let hint =
            switch near.count {
            case 0: known.isEmpty ? "there are no migrations" : "see: ld-host migrate status"
            case 1: "did you mean \(near[0])?"
            default: "did you mean one of \(near.joined(separator: ", "))?"
            }
        return "there is no migration '\(shown)' in \(place); \(hint)"
    }

    private static func nearest(to id: String, among known: [String]) -> [String] {
        let limit = max(2, id.count / 3)
        let found = Set(known).compactMap { candidate -> (id: String, distance: Int)? in
            guard abs(candidate.count - id.count) <= limit else { return nil }
            let distance = EditDistance.between(id, candidate)
            return distance <= limit ? (candidate, distance) : nil
        }
        return found.sorted { ($0.distance, $0.id) < ($1.distance, $1.id) }.prefix(3).map(\.id)
    }
}
