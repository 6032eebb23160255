internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

/// One run of a migration, in turn in its destination's store. Its order makes it safe to stop at any point. The
/// migration runs on a transaction. Its new values, the images of the values that they replace and the ledger's row are
/// written in one step. The new values are read back. Only then are the old values removed.
struct MigrationRun: Sendable {
    /// A value that the migration read changed before the commit.
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
            if let outcome = try await resume(row, in: &page) { return outcome }
        }
        for _ in 1..<Self.attempts {
            do { return try await attempt(&page, isSuperseded) } catch is Disturbed { continue }
        }
        do { return try await attempt(&page, isSuperseded) } catch is Disturbed {
            throw MigrationError(
                .storageFailed, "its sources kept changing before '\(destination.address)' was written")
        }
    }

    /// The most attempts while other processes change the sources.
    private static let attempts = 3

    private var trial: MigrationTrial {
        MigrationTrial(engine: engine, migration: migration, destination: destination, policy: policy)
    }

    /// Completes an earlier run; `nil` if the migration must be run.
    private func resume(_ row: LedgerRow, in page: inout LedgerPage) async throws -> MigrationResult? {
        let standing = try await trial.standing(of: row)
        switch (standing, row.state) {
        case (.cleanup, .copying):
            let isClean = try await LargeRun(ledger).resume(row, &page)
            return MigrationResult(success: true, outcome: isClean ? .cleaned : .cleanupPending)
        case (.cleanup, _):
            return await cleaned(MigrationResult(success: true, outcome: .cleaned), &page)
        case (.open, _), (.done, _):
            if row.unwiped != nil { await ledger.wipe(row.id, in: &page) }
            return standing == .done ? MigrationResult(success: true, outcome: .nothingToDo) : nil
        }
    }

    /// - Parameter isSuperseded: Whether its data is older than the last change of the key.
    private func attempt(_ page: inout LedgerPage, _ isSuperseded: Bool) async throws -> MigrationResult {
        let work = try await trial.run(page, isSuperseded: isSuperseded)
        switch work.decision {
        case .nothingToDo, .superseded: return MigrationResult(success: true, outcome: .nothingToDo)
        case .kept: return MigrationResult(success: true, outcome: .destinationKept)
        case .drop: return try await drop(work, &page)
        case .bring: break
        }
        guard let move = LargeRun.Move(work.entries) else { return try await publish(work, &page) }
        let row = row(work.duration)
        let isClean = try await LargeRun(ledger).run(
            move, row, work.result.dataVersion, keeping: policy != .takeSource, &page)
        return work.result.became(isClean ? .migrated : .cleanupPending, work.duration)
    }

    private func row(_ duration: Double) -> LedgerRow {
        LedgerRow(
            id: migration.id, revision: migration.revision, state: .published, written: [], removed: [],
            committed: Ledger.now, duration: duration, appVersion: snapshot.settings.appVersion, expires: ledger.expiry,
            pack: migration.pack)
    }

    /// Removes the old values, and writes nothing.
    private func drop(_ work: MigrationTrial.Work, _ page: inout LedgerPage) async throws -> MigrationResult {
        var row = row(work.duration)
        for entry in work.changes(besides: destination.address) {
            // Of a large one, the transaction has no bytes.
            let mark = if let mark = entry.mark { mark } else { try await entry.resolved.mark() }
            guard let mark else { continue }
            row.removed.append(LedgerRow.Change(entry.key, mark: mark))
        }
        guard !row.removed.isEmpty else { return work.result.became(.destinationKept, work.duration) }
        try await commit(row, [], work.views, &page)
        return await cleaned(work.result.became(.sourceDropped, work.duration), &page)
    }

    private func publish(_ work: MigrationTrial.Work, _ page: inout LedgerPage) async throws -> MigrationResult {
        var row = row(work.duration)
        var changes: [BatchChange] = []
        var written: [(resolved: ResolvedKey, data: Data)] = []
        for entry in work.entries {
            switch entry.change {
            case nil, .copy: continue
            case .removal: if entry.stored != nil { row.removed.append(LedgerRow.Change(entry)) }
            case .set(let data):
                var change = LedgerRow.Change(entry)
                if let stored = entry.stored {
                    let isSame = try await entry.resolved.opened(stored) == data
                    if isSame, try await !entry.isRecordedAnew() { continue }
                    if let image = try await ledger.image(of: entry.resolved, stored) {
                        change.image = image.name
                        changes.append(image.change)
                    }
                }
                // What a seal makes of it is known when it is read back.
                if entry.resolved.layers.isEmpty { change.after = StableHash.of(data) }
                let target = try await entry.target(data, among: work.entries)
                    .writing(dataVersion: work.result.dataVersion)
                changes.append(try await ledger.change(target, to: data))
                row.written.append(change)
                written.append((entry.resolved, data))
            }
        }
        guard !row.changes.isEmpty else { return work.result.became(.nothingToDo, work.duration) }
        try await commit(row, changes, work.views, &page)
        try await verify(written, &page)
        return await cleaned(work.result.became(.migrated, work.duration), &page)
    }

    /// Makes the changes and writes the row, in one step.
    private func commit(
        _ row: LedgerRow, _ changes: [BatchChange], _ views: [StoreView], _ page: inout LedgerPage
    ) async throws {
        let changes = changes + (await ledger.replacing(page[migration.id]))
        var next = page
        next[migration.id] = row
        guard try await ledger.commit(next, with: changes, views: views) else { throw Disturbed() }
        page = next
    }

    /// Removes the old values, or leaves that to the next run.
    private func cleaned(_ result: MigrationResult, _ page: inout LedgerPage) async -> MigrationResult {
        do throws(StorageError) {
            try await MigrationCleanup(ledger).run(migration.id, in: &page)
            return result
        } catch {
            return pending(error, result)
        }
    }

    /// Reads the new values back.
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
            "'\(migration.id)' has migrated its data, but an old value is still there: \(error.message)")
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
