internal import FoundationEssentials
internal import LocalDataAPI

/// The migrations that may bring older data to a key, for when the key is set or removed before they have: from then on
/// that data is not brought any more, so that what was removed never comes back. The ledger remembers what it was;
/// other data than that is brought.
struct Supersession: Sendable {
    let router: StorageRouter
    let snapshot: RouterSnapshot
    let destination: ResolvedKey
    let migrations: [AnyStorageMigration]
    let ranges: [AnyBulkMigration]

    /// What the ledger has to say; `nil` if nothing is pending, or it says so already. In turn in the destination's
    /// store if it is to be written.
    func ledgerChange() async throws -> BatchChange? {
        let ledger = try Ledger(router, snapshot.settings, of: destination)
        let page = try await ledger.page()
        var next = page
        for migration in migrations {
            guard let marks = try await marks(of: migration, page) else { continue }
            note(marks, .single(migration), in: &next)
        }
        for migration in ranges {
            guard let mark = try await mark(of: migration) else { continue }
            note([mark], .bulk(migration), in: &next)
        }
        return next.rows == page.rows ? nil : try await ledger.change(next)
    }

    private func note(_ marks: [LedgerRow.Change], _ migration: KnownMigration, in page: inout LedgerPage) {
        var row =
            page[migration.id]
            ?? LedgerRow(
                id: migration.id, revision: migration.revision, state: .superseded, written: [], removed: [],
                committed: Ledger.now, duration: 0, appVersion: snapshot.settings.appVersion, pack: migration.pack)
        row.superseded = marks
        page[migration.id] = row
    }

    /// What a migration would bring; `nil` if there is nothing.
    private func marks(of migration: AnyStorageMigration, _ page: LedgerPage) async throws -> [LedgerRow.Change]? {
        if let row = page[migration.id], row.state == .clean, row.revision == migration.revision,
            try await !router.hasNewData(for: migration, at: destination, snapshot.settings)
        {
            return nil
        }
        guard let looked = await looked(migration, page) else { return nil }
        var marks: [LedgerRow.Change] = []
        var known: Set<BatchChange.Target> = [destination.target]
        for key in migration.sources + looked {
            let source = try await router.resolveUnlisted(KeyReference(key))
            guard known.insert(source.target).inserted, let mark = try await router.mark(of: source) else { continue }
            marks.append(LedgerRow.Change(key, mark: mark))
        }
        return marks.isEmpty && !migration.sources.isEmpty ? nil : marks
    }

    /// The keys that its condition looked at; `nil` if that says that there is nothing to do.
    private func looked(_ migration: AnyStorageMigration, _ page: LedgerPage) async -> [AnyStorageKey]? {
        let transaction = MigrationTransaction(router)
        do {
            let context = try await router.migrationContext(for: migration, page, snapshot.settings)
            guard try await migration.shouldMigrate(using: transaction, context: context) else { return nil }
        } catch {
            // A condition that cannot be asked now may be true later.
        }
        return transaction.close().entries.filter(\.isStored).map(\.key)
    }

    private func mark(of migration: AnyBulkMigration) async throws -> LedgerRow.Change? {
        let name = migration.sourceName(of: destination.address.name)
        guard migration.source.contains(name) else { return nil }
        let key = migration.source.key(name)
        let source = try await router.resolveUnlisted(KeyReference(key))
        guard source.target != destination.target, try !snapshot.isReserved(source.address, in: source.open) else {
            return nil
        }
        return try await router.mark(of: source).map { LedgerRow.Change(key, mark: $0) }
    }
}

extension StorageRouter {
    /// The hash of the bytes that a store keeps, whatever their size; `nil` if there are none.
    func mark(of resolved: ResolvedKey) async throws(StorageError) -> UInt64? {
        try await resolved.open.wait("reading '\(resolved.address)'") { () throws(StorageError) in
            try resolved.open.repeating { () throws(StorageError) in
                guard try resolved.store.exists(resolved.handle) else { return nil }
                return try resolved.sealedValue(resolved.layers).storedDigest()
            }
        }
    }

    /// Whether a migration would bring nothing but what its key was set or removed without, to a key that has no value.
    func isSuperseded(
        _ migration: AnyStorageMigration, at destination: ResolvedKey, _ page: LedgerPage
    ) async throws(StorageError) -> Bool {
        guard let marks = page[migration.id]?.superseded, try await !exists(destination) else { return false }
        return try await isSuperseded(marks, sources: migration.sources, besides: destination)
    }

    /// The same as the ledgers of other stores say it, of a migration that its own ledger has nothing of: one of them
    /// may have served the domain before, and a removal leaves nothing that a copy would take along.
    func isSupersededElsewhere(
        _ migration: AnyStorageMigration, at destination: ResolvedKey, _ page: LedgerPage
    ) async throws(StorageError) -> Bool {
        guard page[migration.id] == nil, try await !exists(destination),
            let marks = await supersededElsewhere(migration.id, destination)
        else { return false }
        return try await isSuperseded(marks, sources: migration.sources, besides: destination)
    }

    /// What other stores' ledgers say; a store that cannot be asked says nothing.
    private func supersededElsewhere(_ id: String, _ destination: ResolvedKey) async -> [LedgerRow.Change]? {
        let domain = destination.address.place.domain
        guard let snapshot = try? await snapshot(),
            let stores = try? await onIOThread({ () throws(StorageError) in snapshot.holders(of: domain) })
        else { return nil }
        for open in stores {
            guard let place = try? LedgerPlace.page(of: destination.address, in: open, snapshot.settings) else {
                continue
            }
            let ledger = Ledger(self, snapshot.settings, of: "\(destination.address)", at: place)
            if let marks = try? await ledger.page()[id]?.superseded { return marks }
        }
        return nil
    }

    /// The same for one value of a migration of many.
    func isSuperseded(
        _ key: AnyStorageKey, by migration: AnyBulkMigration, _ snapshot: RouterSnapshot
    ) async throws(StorageError) -> Bool {
        let destination = try await resolve(KeyReference(key))
        let row = try await Ledger(self, snapshot.settings, of: destination).page()[migration.id]
        let elsewhere = row == nil ? await supersededElsewhere(migration.id, destination) : nil
        guard let marks = row?.superseded ?? elsewhere else { return false }
        let source = migration.source.key(migration.sourceName(of: key.descriptor.name))
        return try await isSuperseded(marks, sources: [source], besides: destination)
    }

    private func isSuperseded(
        _ marks: [LedgerRow.Change], sources: [AnyStorageKey], besides destination: ResolvedKey
    ) async throws(StorageError) -> Bool {
        var known: [BatchChange.Target: UInt64] = [:]
        var keys = sources
        for change in marks {
            let key = try change.key
            known[try await resolveUnlisted(KeyReference(key)).target] = change.before
            keys.append(key)
        }
        for key in keys {
            let source = try await resolveUnlisted(KeyReference(key))
            guard source.target != destination.target, let mark = try await mark(of: source) else { continue }
            guard known[source.target] == mark else { return false }
        }
        return true
    }
}
