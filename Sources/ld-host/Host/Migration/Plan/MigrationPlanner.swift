internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import HostStores
internal import LocalDataAPI

/// Finds out what migrations would do, one after the other, by letting them run on transactions that are never
/// published. Each sees what those before it would leave behind.
package struct MigrationPlanner: Sendable {
    let engine: MigrationEngine
    let planned = PlannedChanges()

    package init(_ engine: MigrationEngine) { self.engine = engine }

    private var access: StoreAccess { engine.access }
    var snapshot: RouterSnapshot { engine.snapshot }

    /// One entry for each, in their order.
    package func entries(of migrations: [KnownMigration]) async -> [MigrationPlan.Entry] {
        var dependants = MigrationDependants(engine.registry)
        var entries: [MigrationPlan.Entry] = []
        for (index, migration) in migrations.enumerated() {
            let entry: MigrationPlan.Entry
            do {
                try dependants.check(migration)
                switch migration {
                case .single(let migration): entry = try await self.entry(of: migration)
                case .bulk(let migration):
                    entry = try await self.entry(of: migration, isFollowed: index + 1 < migrations.count)
                }
            } catch {
                dependants.fail(migration.id)
                let error = MigrationError(of: migration.id, error)
                entry = MigrationPlan.Entry(
                    migration, .refused, because: "\(error)", error: error.code.rawValue)
            }
            entries.append(entry)
        }
        return entries
    }

    private func entry(of migration: AnyStorageMigration) async throws -> MigrationPlan.Entry {
        if let reason = MigrationEngine.reasonToSkip(migration, snapshot.settings) {
            return MigrationPlan.Entry(.single(migration), .skipped, because: reason)
        }
        if let reason = try await engine.reasonToWait(migration) {
            return MigrationPlan.Entry(.single(migration), .skipped, because: reason)
        }
        let destination = try await access.resolve(KeyReference(migration.destinationKey))
        try migration.validate()
        let ledger = try Ledger(access, of: destination)
        let page: LedgerPage = if let page = planned.page(of: destination) { page } else { try await ledger.page() }
        let isSuperseded =
            planned.change(of: destination) == nil
            ? try await engine.isSuperseded(migration, at: destination, page) : false
        let trial = MigrationTrial(
            engine: engine, migration: migration, destination: destination, policy: migration.conflictPolicy,
            planned: planned)
        if let row = page[migration.id], !isSuperseded {
            let done = UTCTime.text(row.committed)
            switch try await trial.standing(of: row) {
            case .open: break
            case .cleanup:
                return MigrationPlan.Entry(
                    .single(migration), .cleanup,
                    because: "it migrated its data on \(done), but an old value is still there",
                    removes: try await removals(row))
            case .done:
                return MigrationPlan.Entry(
                    .single(migration), .nothingToDo,
                    because: "it ran on \(done), and none of its sources has data since then")
            }
        }
        return try await entry(trial, trial.run(page, isSuperseded: isSuperseded), page)
    }

    /// The removals that a migration has left after writing its data.
    private func removals(_ row: LedgerRow) async throws -> [MigrationPlan.Value] {
        var removes: [MigrationPlan.Value] = []
        for change in row.removed {
            let resolved = try await access.key(of: change)
            guard let size = try await size(of: resolved, removedBy: row, change) else { continue }
            planned.make(.removal, to: resolved)
            removes.append(MigrationPlan.Value(address: change.address, size: size))
        }
        return removes
    }

    /// The size of what a migration that brought its data still removes; `nil` if it is gone, or someone has changed
    /// it.
    private func size(
        of resolved: ResolvedKey, removedBy row: LedgerRow, _ change: LedgerRow.Change
    ) async throws -> Int? {
        if row.isLarge == true {
            // It is compared only when it is removed.
            guard try await resolved.exists() else { return nil }
            return try await resolved.storedAttributes()?.size.map { Int(clamping: $0) } ?? 0
        }
        guard let stored = try await resolved.stored(), StableHash.of(stored) == change.before else { return nil }
        return stored.count
    }

    private func entry(
        _ trial: MigrationTrial, _ outcome: MigrationTrial.Work, _ page: LedgerPage
    ) async throws -> MigrationPlan.Entry {
        let (migration, address) = (trial.migration, trial.destination.address)
        var work = PlannedWork(outcome.entries)
        func entry(_ decision: MigrationPlan.Decision, _ why: String) -> MigrationPlan.Entry {
            MigrationPlan.Entry(.single(migration), decision, because: why, reads: work.reads)
        }
        let kept = "'\(address)' has a value; it and the sources stay"
        var note = ""
        switch outcome.decision {
        case .nothingToDo: return entry(.nothingToDo, "it reports nothing to migrate")
        case .superseded:
            return entry(
                .nothingToDo, "'\(address)' was set or removed without its older data, which stays where it is")
        case .kept: return entry(.destinationKept, kept)
        case .drop(let isSuperseded): note = isSuperseded ? "" : "'\(address)' has a value, which stays; "
        case .bring: break
        }
        for change in outcome.changes(besides: address) { try await work.add(change) }
        guard !work.changes.isEmpty else {
            return outcome.decision == .bring
                ? entry(.nothingToDo, "it would change nothing") : entry(.destinationKept, kept)
        }
        for (resolved, change) in work.changes {
            planned.make(change, to: resolved, dataVersion: outcome.result.dataVersion)
        }
        var next = page
        next[migration.id] = LedgerRow(migration, .clean, snapshot.settings)
        planned.write(next, of: trial.destination)
        return MigrationPlan.Entry(
            .single(migration), .run, because: note + work.reason(address), reads: work.reads, writes: work.writes,
            removes: work.removes)
    }
}

extension MigrationPlan.Entry {
    init(
        _ migration: KnownMigration, _ decision: MigrationPlan.Decision, because why: String, error: String? = nil,
        reads: [MigrationPlan.Value] = [], writes: [MigrationPlan.Value] = [], removes: [MigrationPlan.Value] = [],
        count: Int? = nil
    ) {
        self.init(
            migration: migration.id, revision: migration.revision, summary: migration.summary,
            pack: migration.pack.map { "\($0)" }, destination: migration.destination, decision: decision, why: why,
            error: error, reads: reads, writes: writes, removes: removes, count: count)
    }
}
