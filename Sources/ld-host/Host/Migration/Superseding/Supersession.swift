internal import HostStores
internal import LocalDataAPI

/// The migrations that may bring older data to a key, for when the key is set or removed before they have: from then on
/// that data is not brought any more, so that what was removed never comes back. The ledger remembers what it was;
/// other data than that is brought.
struct Supersession: Sendable {
    let engine: MigrationEngine
    let destination: ResolvedKey
    let migrations: [AnyStorageMigration]
    let ranges: [AnyBulkMigration]

    private var access: StoreAccess { engine.access }
    private var snapshot: RouterSnapshot { engine.snapshot }

    /// A source and what the ledger says of it.
    private struct Mark {
        let source: ResolvedKey
        var change: LedgerRow.Change
    }

    /// What the ledger has to say; nothing if nothing is pending, or it says so already. In turn in the destination's
    /// store if it is to be written.
    func ledgerChanges() async throws -> [BatchChange] {
        let ledger = try Ledger(access, of: destination)
        let page = try await ledger.page()
        var next = page
        var changes: [BatchChange] = []
        for migration in migrations {
            guard let marks = try await marks(of: migration, page) else { continue }
            changes += await note(marks, .single(migration), in: &next, ledger)
        }
        for migration in ranges {
            guard let mark = try await mark(of: migration) else { continue }
            changes += await note([mark], .bulk(migration), in: &next, ledger)
        }
        return next.rows == page.rows ? [] : changes + [try ledger.change(next)]
    }

    /// - Returns: The changes of witnesses.
    private func note(
        _ marks: [Mark], _ migration: KnownMigration, in page: inout LedgerPage, _ ledger: Ledger
    ) async -> [BatchChange] {
        var row =
            page[migration.id] ?? LedgerRow(migration, .superseded, snapshot.settings)
        let former = row.superseded ?? []
        var changes: [BatchChange] = []
        var kept: [LedgerRow.Change] = []
        for var mark in marks {
            if let known = former.first(where: { $0.isSame(as: mark.change) }) {
                mark.change = known
            } else if let witness = await SourceWitness.made(of: mark.source, for: destination) {
                mark.change.witness = witness.name
                changes.append(witness.change)
            }
            kept.append(mark.change)
        }
        row.superseded = kept
        let isOwn = migration.origin == .formerPlace
        if !isOwn, await engine.isLedByOther(destination.address, migration.packPolicy) { row.wasLedByOther = true }
        page[migration.id] = row
        return changes + former.filter { !kept.contains($0) }.compactMap { ledger.dropping($0) }
    }

    /// The data that a migration would move; `nil` for none.
    private func marks(of migration: AnyStorageMigration, _ page: LedgerPage) async throws -> [Mark]? {
        if let row = page[migration.id], row.state == .clean, row.revision == migration.revision,
            try await !engine.hasNewData(for: migration, at: destination)
        {
            return nil
        }
        guard let looked = await looked(migration, page) else { return nil }
        var marks: [Mark] = []
        var known: Set<ResolvedKey.Target> = [destination.target]
        for key in migration.sources + looked {
            let source = try await access.resolveUnlisted(KeyReference(key))
            guard known.insert(source.target).inserted, let mark = try await source.mark() else { continue }
            marks.append(Mark(source: source, change: LedgerRow.Change(key, mark: mark)))
        }
        return marks.isEmpty && !migration.sources.isEmpty ? nil : marks
    }

    /// The keys that its condition looked at; `nil` if that says that there is nothing to do.
    private func looked(_ migration: AnyStorageMigration, _ page: LedgerPage) async -> [AnyStorageKey]? {
        let transaction = MigrationTransaction(access)
        do {
            let context = try await engine.migrationContext(for: migration, page, snapshot.settings)
            guard try await migration.shouldMigrate(using: transaction, context: context) else { return nil }
        } catch {
            // A condition that cannot be asked now may be true later.
        }
        return transaction.close().entries.filter(\.isStored).map(\.key)
    }

    private func mark(of migration: AnyBulkMigration) async throws -> Mark? {
        let name = migration.sourceName(of: destination.address.name)
        guard migration.source.contains(name) else { return nil }
        let key = migration.source.key(name)
        let source = try await access.resolveUnlisted(KeyReference(key))
        guard source.target != destination.target, try !snapshot.isReserved(source.address, in: source.open) else {
            return nil
        }
        return try await source.mark().map { Mark(source: source, change: LedgerRow.Change(key, mark: $0)) }
    }
}
