internal import ByteCoding
internal import FoundationEssentials
internal import HostStores
internal import LocalDataAPI

/// One run of a migration, in turn in its destination's store. Its order makes it safe to stop at any point. The
/// migration runs on a transaction. Its new values, the images of the values that they replace and the ledger's row are
/// written in one step. The new values are read back. Only then are the old values removed.
struct MigrationRun: Sendable {
    let engine: MigrationEngine
    let migration: AnyStorageMigration
    let destination: ResolvedKey
    let policy: MigrationConflictPolicy
    let ledger: Ledger

    private var snapshot: RouterSnapshot { engine.snapshot }

    func run() async throws -> MigrationResult {
        try migration.validate()
        var page = try await ledger.page()
        await ledger.expire(&page)
        let isSuperseded = try await engine.isSuperseded(migration, at: destination, page)
        if let row = page[migration.id], !isSuperseded {
            if let outcome = try await resume(row, in: &page) { return outcome }
        }
        for _ in 0..<MoveLimits.attempts {
            do { return try await attempt(page, isSuperseded) } catch is RowChunk.Disturbed { continue }
        }
        throw MigrationError(
            .storageFailed, "its sources kept changing before '\(destination.address)' was written")
    }

    private var trial: MigrationTrial {
        MigrationTrial(engine: engine, migration: migration, destination: destination, policy: policy)
    }

    /// Completes an earlier run; `nil` if the migration must be run.
    private func resume(_ row: LedgerRow, in page: inout LedgerPage) async throws -> MigrationResult? {
        let standing = try await trial.standing(of: row)
        if standing == .cleanup { return await cleaned(row, page, MigrationResult(success: true, outcome: .cleaned)) }
        if row.unwiped != nil { await ledger.wipe(row.id, in: &page) }
        return standing == .done ? MigrationResult(success: true, outcome: .nothingToDo) : nil
    }

    /// - Parameter isSuperseded: Whether its data is older than the last change of the key.
    private func attempt(_ page: LedgerPage, _ isSuperseded: Bool) async throws -> MigrationResult {
        let work = try await trial.run(page, isSuperseded: isSuperseded)
        switch work.decision {
        case .nothingToDo, .superseded: return MigrationResult(success: true, outcome: .nothingToDo)
        case .kept: return MigrationResult(success: true, outcome: .destinationKept)
        case .bring: return try await publish(work, page, as: .migrated, orElse: .nothingToDo)
        case .drop: return try await publish(work, page, as: .sourceDropped, orElse: .destinationKept)
        }
    }

    /// Writes the new values and the row, reads them back, and removes the old values.
    ///
    /// - Parameter unchanged: The outcome if nothing changes.
    private func publish(
        _ work: MigrationTrial.Work, _ page: LedgerPage, as outcome: MigrationOutcome,
        orElse unchanged: MigrationOutcome
    ) async throws -> MigrationResult {
        var row = LedgerRow(migration, .published, after: work.duration, snapshot.settings, ledger.expiry)
        row.sourceModified = await engine.sourceModified(of: migration)
        let former = await ledger.replacing(page[migration.id])
        let changed = work.changes(besides: destination.address).filter { $0.change != nil }
        let isMove = RowChunk.Move(changed) != nil
        var entries: [MigrationTransaction.Entry] = []
        for entry in changed { entries.append(try await entry.unlocked(forMove: isMove)) }
        var chunk = RowChunk(row, in: page, of: ledger)
        let (dataVersion, views, isKept) = (work.result.dataVersion, work.views, policy != .takeSource)
        if let move = RowChunk.Move(entries) {
            try await ledger.step(&chunk, with: nil) {
                try $0.publish(move, dataVersion: dataVersion, keeping: isKept, replacing: former)
            }
        } else {
            let keys = entries.map(\.resolved)
            try await ledger.step(&chunk, with: keys) { [entries] chunk in
                try chunk.publish(entries, basedOn: views, dataVersion: dataVersion, replacing: former)
            }
            guard !chunk.row.changes.isEmpty else { return work.result.became(unchanged, work.duration) }
            try await ledger.step(&chunk, with: keys) { try $0.verify() }
        }
        await engine.noteBrought(
            changed.compactMap { entry in
                guard entry.change?.isSet == true, let setter = entry.setter else { return nil }
                // A pack does not know the owner of an app's key.
                return (migration.pack == nil ? setter.descriptor : setter.descriptor.withoutOwner, entry.resolved)
            }, from: migration.sources)
        if migration.pack == nil, migration.origin != .formerPlace {
            let removed = changed.filter { $0.change?.isSet == false }.map(\.resolved.target)
            await engine.noteMovedAway(migration.sources, removed)
        }
        return await cleaned(chunk.row, chunk.page, work.result.became(outcome, work.duration))
    }

    /// Removes the old values, or leaves that to the next run.
    private func cleaned(_ row: LedgerRow, _ page: LedgerPage, _ result: MigrationResult) async -> MigrationResult {
        if row.state == .clean { return result }
        var page = page
        do {
            try await ledger.clean(row, in: &page)
            return result
        } catch {
            ledger.logPending(row.id, error)
            return result.became(.cleanupPending, result.duration)
        }
    }
}

extension MigrationResult {
    func became(_ outcome: MigrationOutcome, _ duration: Double) -> MigrationResult {
        MigrationResult(
            success: success, migratedCount: migratedCount, errors: errors, metadata: metadata, duration: duration,
            outcome: outcome)
    }
}

extension StorageKeyDescriptor {
    /// The same key, of nobody in particular.
    fileprivate var withoutOwner: Self {
        StorageKeyDescriptor(
            name: name, domain: domain, security: security, serializer: serializer, valueType: valueType, owner: "",
            description: description)
    }
}
