internal import FoundationEssentials
internal import LocalDataAPI
internal import Synchronization

/// Changes of keys that older data may be brought to.
extension MigrationEngine {
    /// Makes changes along with what the ledgers say of older data that they supersede, all of it or nothing.
    ///
    /// - Parameters:
    ///   - keys: Those that the changes are of.
    ///   - changes: Each of another value.
    ///   - progress: As for ``apply(_:views:progress:)``.
    /// - Returns: Whether there is such data; if not, nothing has been done. What keeps that from being known keeps
    ///   nobody from setting or removing values, and is logged.
    func applySuperseding(
        _ keys: [(key: AnyStorageKey, resolved: ResolvedKey)], with changes: [BatchChange],
        progress: @escaping @Sendable () -> Void = {}
    ) async throws -> Bool {
        // Setting opens no pack: what one brings is superseded when the key is removed.
        try await superseding(keys, loadingPacks: changes.contains { $0.data == nil }) { ledgers in
            try await access.apply(changes + ledgers, progress: progress)
        }
    }

    /// Calls `body` with what the ledgers say of older data that changes of keys supersede, in turn in the stores of
    /// those keys.
    ///
    /// - Returns: Whether there is such data; if not, `body` was not called.
    func superseding(
        _ keys: [(key: AnyStorageKey, resolved: ResolvedKey)], loadingPacks: Bool,
        _ body: ([BatchChange]) async throws -> Void
    ) async throws -> Bool {
        guard !Self.isMigrating else { return false }
        let found: [Supersession]
        do {
            if loadingPacks { try await loadPacks() }
            found = try await supersessions(of: keys)
        } catch {
            let reason = StorageError(wrapping: error).message
            snapshot.log(
                .warning, "migration", "older data of keys that are set or removed may be migrated later: \(reason)")
            return false
        }
        guard !found.isEmpty else { return false }
        var stores: [UInt64: OpenStore] = [:]
        for supersession in found { stores[supersession.destination.open.identity] = supersession.destination.open }
        // In one order, so that no two wait for each other.
        let order = stores.sorted { $0.key < $1.key }.map(\.value)
        try await alone(in: order[...]) {
            try await onIOThread { () throws(StorageError) in BatchRecovery(snapshot: snapshot).recoverAndSettle() }
            var changes: [BatchChange] = []
            for supersession in found { changes += try await supersession.ledgerChanges() }
            try await body(changes)
        }
        // A later release may have the key elsewhere, and finds by this what the ledger says here.
        let lasting = keys.filter { !$0.key.descriptor.owner.isEmpty && !$0.resolved.open.isGoneWithProcess }
        await note(lasting.map { (.declared, $0.key.descriptor, $0.resolved.address.place) }, isUse: false)
        return true
    }

    private func alone(
        in stores: ArraySlice<OpenStore>, _ body: () async throws -> Void
    ) async throws {
        guard let store = stores.first else { return try await body() }
        try await MigrationTurns.shared.alone(in: store, settings) {
            try await alone(in: stores.dropFirst(), body)
        }
    }

    /// The keys that have pending migrations.
    private func supersessions(
        of keys: [(key: AnyStorageKey, resolved: ResolvedKey)]
    ) async throws -> [Supersession] {
        let destinations = Set(
            registry.migrations.compactMap { migration in
                let key = migration.destinationDescriptor
                return (try? snapshot.settings.place(of: key.domain)).map { StorageAddress($0, name: key.name) }
            })
        var found: [Supersession] = []
        for (key, resolved) in keys {
            var migrations: [AnyStorageMigration] = []
            if key.hasMigration || destinations.contains(resolved.address) {
                migrations = try await self.migrations(for: key)
            }
            migrations.removeAll { $0.id.hasPrefix(FormerPlaceMigration.prefix) }
            let former = try await migrationsFromFormerPlaces(of: key)
            if snapshot.isCatalogued(resolved.address) { await noteBrought([], from: former.flatMap(\.sources)) }
            migrations += former
            migrations.removeAll { $0.effect != .brings || Self.reasonToSkip($0, snapshot.settings) != nil }
            let ranges = try await bulkMigrations(for: key)
            guard !migrations.isEmpty || !ranges.isEmpty else { continue }
            let supersession = Supersession(
                engine: self, destination: resolved, migrations: migrations, ranges: ranges)
            if try await !supersession.ledgerChanges().isEmpty { found.append(supersession) }
        }
        return found
    }

    /// The same for a change of one value.
    ///
    /// - Parameter data: `nil` to remove it.
    func applySuperseding(
        _ data: Data?, _ resolved: ResolvedKey, _ key: @autoclosure () -> AnyStorageKey
    ) async throws -> Bool {
        if let refusal = resolved.refusal { throw refusal }
        let value = data == nil ? resolved.sealed : try await resolved.sealedValue()
        return try await applySuperseding(
            [(key(), resolved)], with: [BatchChange(resolved, value: value, data: data)])
    }
}

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
        let isOwn = migration.id.hasPrefix(FormerPlaceMigration.prefix)
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
        var known: Set<BatchChange.Target> = [destination.target]
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

extension LedgerRow.Change {
    /// Whether both are about the same bytes of the same value.
    fileprivate func isSame(as other: Self) -> Bool {
        var own = self
        own.witness = other.witness
        return own == other
    }
}
