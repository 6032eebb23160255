internal import FoundationEssentials
internal import LocalDataAPI

/// One run of a migration, in turn in its destination's store. The order makes it safe to be stopped at any point: the
/// migration runs on a transaction; what it wrote, the images of what that replaces and the ledger's row are put in
/// place as one; what was written is read back; only then is removed what the migration removes.
struct MigrationRun: Sendable {
    /// What was read changed before it could be committed.
    private struct Disturbed: Error {}

    let engine: MigrationEngine
    let migration: AnyStorageMigration
    let destination: ResolvedKey
    let policy: MigrationConflictPolicy
    private let ledger: Ledger

    init(
        _ migration: AnyStorageMigration, to destination: ResolvedKey, policy: MigrationConflictPolicy,
        _ engine: MigrationEngine
    ) throws(StorageError) {
        self.engine = engine
        self.migration = migration
        self.destination = destination
        self.policy = policy
        ledger = try Ledger(engine.access, of: destination)
    }

    private var access: StoreAccess { engine.access }
    private var snapshot: RouterSnapshot { engine.snapshot }

    func run() async throws -> MigrationResult {
        try migration.validate()
        // A batch that was decided and is not all in place would be taken for no change.
        let snapshot = snapshot
        try await onIOThread { () throws(StorageError) in
            BatchRecovery(snapshot: snapshot).recoverAndSettle()
        }
        var page = try await ledger.page()
        await ledger.expire(&page)
        let isSuperseded = try await engine.isSuperseded(migration, at: destination, page)
        if let row = page[migration.id], !isSuperseded {
            if let outcome = try await goOn(with: row, in: &page) { return outcome }
        }
        for _ in 1..<Self.attempts {
            do { return try await attempt(&page, isSuperseded) } catch is Disturbed { continue }
        }
        do { return try await attempt(&page, isSuperseded) } catch is Disturbed {
            throw MigrationError(
                .storageFailed, "what it reads was changed again and again before '\(destination.address)' was written")
        }
    }

    /// How often a migration is run until nobody changes what it reads meanwhile.
    private static let attempts = 3

    /// What an earlier run leaves to do; `nil` if the migration is to be run.
    private func goOn(with row: LedgerRow, in page: inout LedgerPage) async throws -> MigrationResult? {
        try row.requireNoLater(than: migration.revision, at: "\(destination.address)")
        if row.state == .copying {
            if let outcome = try await LargeRun(ledger).resume(row, &page) {
                return MigrationResult(success: true, outcome: outcome)
            }
            try row.requireSamePack(as: migration)
            return nil
        }
        let cleanup = MigrationCleanup(ledger)
        if row.state == .published, try await cleanup.isPublished(row) {
            do throws(StorageError) { try await cleanup.run(migration.id, in: &page) } catch {
                return pending(error, MigrationResult(success: true))
            }
            return MigrationResult(success: true, outcome: .cleaned)
        }
        if row.unwiped != nil { await ledger.wipe(row.id, in: &page) }
        guard row.state == .clean, row.revision == migration.revision,
            try await !engine.hasNewData(for: migration, at: destination, snapshot.settings)
        else {
            try row.requireSamePack(as: migration)
            return nil
        }
        if migration.effect == .removes, try await destination.exists() { return nil }
        return MigrationResult(success: true, outcome: .nothingToDo)
    }

    /// - Parameter isSuperseded: Whether what it would bring is older than what the key was set to or removed at.
    private func attempt(_ page: inout LedgerPage, _ isSuperseded: Bool) async throws -> MigrationResult {
        let clock = ContinuousClock()
        let start = clock.now
        let transaction = MigrationTransaction(access)
        let context = try await engine.migrationContext(for: migration, page, snapshot.settings)
        guard try await migration.shouldMigrate(using: transaction, context: context) else {
            return MigrationResult(success: true, outcome: .nothingToDo)
        }
        transaction.discardChanges()
        var (isSuperseded, isDropping) = (isSuperseded, false)
        if !isSuperseded { isSuperseded = try await engine.isSupersededElsewhere(migration, at: destination, page) }
        if isSuperseded {
            isDropping = policy == .dropSource
            guard isDropping else { return MigrationResult(success: true, outcome: .nothingToDo) }
        } else if migration.effect == .brings,
            !migration.changesInPlace(at: destination.address, snapshot.settings),
            try await transaction.exists(migration.destinationKey)
        {
            switch policy {
            case .keepDestination: return MigrationResult(success: true, outcome: .destinationKept)
            case .dropSource: isDropping = true
            case .takeSource: break
            case .fail:
                throw MigrationError.conflict(at: destination.address)
            }
        }
        let result = try await migration.migrate(using: transaction, context: context)
        let duration = (clock.now - start) / .seconds(1)
        guard result.success else { throw MigrationError.unsuccessful(result) }
        let (entries, views) = transaction.close()
        try requireOtherValues(entries)
        if isDropping { return try await drop(entries, views, result, duration, &page) }
        if let move = LargeRun.Move(entries) {
            let row = row(duration)
            return try await LargeRun(ledger).run(move, row, result.dataVersion, keeping: policy != .takeSource, &page)
                ? result.became(.migrated, duration) : result.became(.cleanupPending, duration)
        }
        return try await publish(entries, views, result, duration, &page)
    }

    /// - Throws: `validationFailed` if it would remove what it brings, since two of its keys are one value.
    private func requireOtherValues(_ entries: [MigrationTransaction.Entry]) throws(MigrationError) {
        let kept = [destination] + entries.filter { $0.change != nil && !$0.isRemoved }.map(\.resolved)
        for entry in entries where entry.isRemoved {
            guard let other = kept.first(where: { entry.resolved.isOtherPath(of: $0) }) else { continue }
            throw MigrationError(
                .validationFailed,
                "it is to move '\(entry.resolved.address)' to '\(other.address)', which is the same value by another path "
                    + "of its folder; give the key one of the paths, and no migration")
        }
    }

    private func row(_ duration: Double) -> LedgerRow {
        LedgerRow(
            id: migration.id, revision: migration.revision, state: .published, written: [], removed: [],
            committed: Ledger.now, duration: duration, appVersion: snapshot.settings.appVersion, expires: ledger.expiry,
            pack: migration.pack)
    }

    /// Removes what the migration removes, and writes nothing.
    private func drop(
        _ entries: [MigrationTransaction.Entry], _ views: [StoreView], _ result: MigrationResult, _ duration: Double,
        _ page: inout LedgerPage
    ) async throws -> MigrationResult {
        var row = row(duration)
        for entry in entries where entry.isRemoved && entry.resolved.address != destination.address {
            // Of a large one, the transaction has no bytes.
            let mark = if let mark = entry.mark { mark } else { try await entry.resolved.mark() }
            guard let mark else { continue }
            row.removed.append(LedgerRow.Change(entry.key, mark: mark))
        }
        guard !row.removed.isEmpty else { return result.became(.destinationKept, duration) }
        let changes = await ledger.replacing(page[migration.id])
        var next = page
        next[migration.id] = row
        guard try await ledger.commit(next, with: changes, views: views) else { throw Disturbed() }
        page = next
        do throws(StorageError) { try await MigrationCleanup(ledger).run(migration.id, in: &page) } catch {
            return pending(error, result.became(.sourceDropped, duration))
        }
        return result.became(.sourceDropped, duration)
    }

    private func publish(
        _ entries: [MigrationTransaction.Entry], _ views: [StoreView], _ result: MigrationResult, _ duration: Double,
        _ page: inout LedgerPage
    ) async throws -> MigrationResult {
        var row = row(duration)
        var changes: [BatchChange] = []
        var written: [(resolved: ResolvedKey, data: Data)] = []
        var hasDestination = migration.effect == .removes
        for entry in entries {
            let isDestination = entry.resolved.address == destination.address
            switch entry.change {
            case nil, .copy: if isDestination { hasDestination = entry.isStored }
            case .removal:
                if isDestination { hasDestination = false }
                if entry.stored != nil { row.removed.append(LedgerRow.Change(entry)) }
            case .set(let data):
                if isDestination { hasDestination = true }
                var change = LedgerRow.Change(entry)
                if let stored = entry.stored {
                    if try await entry.resolved.opened(stored) == data { continue }
                    if let image = try await ledger.image(of: entry.resolved, stored) {
                        change.image = image.name
                        changes.append(image.change)
                    }
                }
                // What a seal makes of it is known when it is read back.
                if entry.resolved.layers.isEmpty { change.after = StableHash.of(data) }
                let target = try await entry.target(data, among: entries).writing(dataVersion: result.dataVersion)
                changes.append(try await ledger.change(target, to: data))
                row.written.append(change)
                written.append((entry.resolved, data))
            }
        }
        try migration.requireEffect(hasDestination, at: destination.address)
        guard !row.changes.isEmpty else { return result.became(.nothingToDo, duration) }
        changes += await ledger.replacing(page[migration.id])
        var next = page
        next[migration.id] = row
        guard try await ledger.commit(next, with: changes, views: views) else { throw Disturbed() }
        page = next
        try await verify(written, &page)
        do throws(StorageError) { try await MigrationCleanup(ledger).run(migration.id, in: &page) } catch {
            return pending(error, result.became(.migrated, duration))
        }
        return result.became(.migrated, duration)
    }

    /// Reads back what was written.
    private func verify(_ written: [(resolved: ResolvedKey, data: Data)], _ page: inout LedgerPage) async throws {
        guard var row = page[migration.id] else { return }
        for (index, (resolved, data)) in written.enumerated() {
            let stored = try await resolved.stored()
            let found: Data? = if let stored { try await resolved.opened(stored) } else { nil }
            guard let stored, found == data else {
                row.state = .unverified
                page[migration.id] = row
                try await ledger.commit(page)
                throw MigrationError(
                    .validationFailed,
                    "'\(resolved.address)' does not read back from '\(resolved.open.name)' as it was written; the sources "
                        + "are as they were")
            }
            row.written[index].after = StableHash.of(stored)
        }
        page[migration.id] = row
    }

    private func pending(_ error: StorageError, _ result: MigrationResult) -> MigrationResult {
        snapshot.log(
            .warning, "migration",
            "'\(migration.id)' has brought its data, and what it removes is still there: \(error.message)")
        return result.became(.cleanupPending, result.duration)
    }
}

extension MigrationResult {
    func became(_ outcome: MigrationOutcome, _ duration: Double) -> MigrationResult {
        MigrationResult(
            success: success, migratedCount: migratedCount, errors: errors, metadata: metadata, duration: duration,
            outcome: outcome)
    }
}
