internal import FoundationEssentials
internal import LocalDataAPI

/// Finds out what migrations would do, one after the other, by letting them run on transactions that are never
/// published. Each sees what those before it would leave behind.
struct MigrationPlanner: Sendable {
    let engine: MigrationEngine
    let planned = PlannedChanges()

    init(_ engine: MigrationEngine) { self.engine = engine }

    private var access: StoreAccess { engine.access }
    var snapshot: RouterSnapshot { engine.snapshot }

    /// One entry for each, in their order.
    func entries(of migrations: [KnownMigration]) async -> [MigrationPlan.Entry] {
        var dependants = MigrationDependants(engine.registry)
        var entries: [MigrationPlan.Entry] = []
        for migration in migrations {
            let entry: MigrationPlan.Entry
            do {
                try dependants.check(migration)
                switch migration {
                case .single(let migration): entry = try await self.entry(of: migration)
                case .bulk(let migration): entry = try await self.entry(of: migration)
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
            return MigrationPlan.Entry(migration, .skipped, because: reason)
        }
        let destination = try await access.resolve(KeyReference(migration.destinationKey))
        try migration.validate()
        let ledger = try Ledger(access, of: destination)
        let page: LedgerPage = if let page = planned.page(of: destination) { page } else { try await ledger.page() }
        let isSuperseded =
            planned.change(of: destination) == nil
            ? try await engine.isSuperseded(migration, at: destination, page) : false
        if let row = page[migration.id], !isSuperseded,
            let entry = try await goOn(with: row, migration, destination, ledger)
        {
            return entry
        }
        return try await attempt(migration, to: destination, page, isSuperseded)
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

    /// What an earlier run leaves to do; `nil` if the migration is to be run.
    private func goOn(
        with row: LedgerRow, _ migration: AnyStorageMigration, _ destination: ResolvedKey, _ ledger: Ledger
    ) async throws -> MigrationPlan.Entry? {
        try row.requireNoLater(than: migration.revision, at: ledger.address)
        let done = UTCTime.text(row.committed)
        let hasCome =
            switch row.state {
            case .published: try await MigrationCleanup(ledger).isPublished(row)
            case .copying: try await LargeRun(ledger).hasCome(row)
            default: false
            }
        if hasCome {
            var removes: [MigrationPlan.Value] = []
            for change in row.removed {
                let resolved = try await access.resolveUnlisted(KeyReference(try change.key))
                guard let size = try await size(of: resolved, removedBy: row, change) else { continue }
                planned.make(.removal, to: resolved)
                removes.append(MigrationPlan.Value(address: change.address, size: size))
            }
            return MigrationPlan.Entry(
                migration, .cleanup, because: "it brought its data on \(done), and what it removes is still there",
                removes: removes)
        }
        guard row.state == .clean, row.revision == migration.revision else {
            try row.requireSamePack(as: migration)
            return nil
        }
        for source in migration.sources {
            let resolved = try await access.resolveUnlisted(KeyReference(source))
            let hasData: Bool
            if let change = planned.change(of: resolved) {
                hasData = change.isSet
            } else {
                hasData = try await engine.hasNewData(resolved, besides: destination, snapshot.settings)
            }
            guard hasData else { continue }
            try row.requireSamePack(as: migration)
            return nil
        }
        if migration.effect == .removes, try await exists(migration.destinationKey) { return nil }
        return MigrationPlan.Entry(
            migration, .nothingToDo, because: "it was done on \(done), and none of its sources has data since")
    }

    private func exists(_ key: AnyStorageKey) async throws -> Bool {
        let resolved = try await access.resolveUnlisted(KeyReference(key))
        if let change = planned.change(of: resolved) { return change.isSet }
        return try await resolved.exists()
    }

    private func attempt(
        _ migration: AnyStorageMigration, to destination: ResolvedKey, _ page: LedgerPage, _ isSuperseded: Bool
    ) async throws -> MigrationPlan.Entry {
        let transaction = MigrationTransaction(access, over: planned)
        let context = try await engine.migrationContext(for: migration, page, snapshot.settings, over: planned)
        guard try await migration.shouldMigrate(using: transaction, context: context) else {
            return MigrationPlan.Entry(
                migration, .nothingToDo, because: "it says that there is nothing to migrate",
                reads: PlannedWork(transaction.close().entries).reads)
        }
        transaction.discardChanges()
        var (isSuperseded, isDropping) = (isSuperseded, false)
        if !isSuperseded, planned.change(of: destination) == nil {
            isSuperseded = try await engine.isSupersededElsewhere(migration, at: destination, page)
        }
        if isSuperseded {
            isDropping = migration.conflictPolicy == .dropSource
            guard isDropping else {
                return MigrationPlan.Entry(
                    migration, .nothingToDo,
                    because: "'\(destination.address)' was set or removed without its data, which stays where it is",
                    reads: PlannedWork(transaction.close().entries).reads)
            }
        } else if migration.effect == .brings,
            !migration.changesInPlace(at: destination.address, snapshot.settings),
            try await transaction.exists(migration.destinationKey)
        {
            switch migration.conflictPolicy {
            case .keepDestination:
                return kept(migration, destination, PlannedWork(transaction.close().entries).reads)
            case .dropSource: isDropping = true
            case .takeSource: break
            case .fail: throw MigrationError.conflict(at: destination.address)
            }
        }
        let result = try await migration.migrate(using: transaction, context: context)
        guard result.success else { throw MigrationError.unsuccessful(result) }
        let entries = transaction.close().entries
        var work = PlannedWork(entries)
        for entry in entries
        where !isDropping || entry.isRemoved && entry.resolved.address != destination.address {
            try await work.add(entry)
        }
        if !isDropping {
            let hasDestination = work.hasValue(at: destination.address) ?? (migration.effect == .removes)
            try migration.requireEffect(hasDestination, at: destination.address)
        }
        guard !work.changes.isEmpty else {
            guard !isDropping else { return kept(migration, destination, work.reads) }
            return MigrationPlan.Entry(
                migration, .nothingToDo, because: "everything is as it would leave it", reads: work.reads)
        }
        for (resolved, change) in work.changes {
            planned.make(change, to: resolved, dataVersion: result.dataVersion)
        }
        var next = page
        next[migration.id] = LedgerRow(
            id: migration.id, revision: migration.revision, state: .clean, written: [], removed: [],
            committed: Ledger.now, duration: 0, appVersion: snapshot.settings.appVersion, expires: nil,
            pack: migration.pack)
        planned.write(next, of: destination)
        let stays = isDropping && !isSuperseded ? "'\(destination.address)' has a value, which stays; " : ""
        return MigrationPlan.Entry(migration, .run, because: stays + work.reason(destination.address), work)
    }

    private func kept(
        _ migration: AnyStorageMigration, _ destination: ResolvedKey, _ reads: [MigrationPlan.Value]
    ) -> MigrationPlan.Entry {
        MigrationPlan.Entry(
            migration, .destinationKept,
            because: "'\(destination.address)' has a value, which stays, and so do the sources", reads: reads)
    }
}

extension MigrationPlan.Entry {
    init(
        _ migration: KnownMigration, _ decision: MigrationPlan.Decision, because why: String,
        error: String? = nil, reads: [MigrationPlan.Value] = [], removes: [MigrationPlan.Value] = [], count: Int? = nil
    ) {
        self.init(
            migration: migration.id, revision: migration.revision, summary: migration.summary,
            pack: migration.pack.map { "\($0)" }, destination: migration.destination,
            decision: decision, why: why, error: error, reads: reads, removes: removes, count: count)
    }

    init(
        _ migration: AnyStorageMigration, _ decision: MigrationPlan.Decision, because why: String,
        reads: [MigrationPlan.Value] = [], removes: [MigrationPlan.Value] = []
    ) {
        self.init(.single(migration), decision, because: why, reads: reads, removes: removes)
    }

    init(
        _ migration: AnyStorageMigration, _ decision: MigrationPlan.Decision, because why: String, _ work: PlannedWork
    ) {
        let key = migration.destinationDescriptor
        self.init(
            migration: migration.id, revision: migration.revision, summary: migration.summary,
            pack: migration.pack.map { "\($0)" }, destination: "\(key.domain)/\(key.name)",
            decision: decision, why: why, reads: work.reads, writes: work.writes, removes: work.removes)
    }
}
