package import FoundationEssentials
internal import HostGround
package import HostStores
package import LocalDataAPI

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
    package func applySuperseding(
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
    package func superseding(
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
        try await MigrationTurns.shared.alone(in: store, snapshot) {
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
            migrations.removeAll { $0.origin == .formerPlace }
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
    package func applySuperseding(
        _ data: Data?, _ resolved: ResolvedKey, _ key: @autoclosure () -> AnyStorageKey
    ) async throws -> Bool {
        if let refusal = resolved.refusal { throw refusal }
        let value = data == nil ? resolved.sealed : try await resolved.sealedValue()
        return try await applySuperseding(
            [(key(), resolved)], with: [BatchChange(resolved, value: value, data: data)])
    }
}

extension LedgerRow.Change {
    /// Whether both are about the same bytes of the same value.
    func isSame(as other: Self) -> Bool {
        var own = self
        own.witness = other.witness
        return own == other
    }
}

/// Whether older data is superseded.
extension MigrationEngine {
    /// Whether a migration would bring nothing but what its key was set or removed without, to a key that has no value,
    /// or has one of the device that led the sync group then.
    func isSuperseded(
        _ migration: AnyStorageMigration, at destination: ResolvedKey, _ page: LedgerPage
    ) async throws(StorageError) -> Bool {
        guard let row = page[migration.id], let marks = row.superseded else { return false }
        if try await bringsNewer(migration) { return false }
        if row.wasLedByOther != true, try await destination.exists() { return false }
        return try await isSuperseded(marks, sources: migration.sources, besides: destination, in: destination.open)
    }

    /// The same as the ledgers of other stores say it, of a migration that its own ledger has nothing of: one of them
    /// may have served the domain before, and a removal leaves nothing that a copy would take along.
    func isSupersededElsewhere(
        _ migration: AnyStorageMigration, at destination: ResolvedKey, _ page: LedgerPage
    ) async throws(StorageError) -> Bool {
        guard page[migration.id] == nil, try await !destination.exists(), try await !bringsNewer(migration) else {
            return false
        }
        if let (marks, open) = await supersededElsewhere(migration.id, destination) {
            return try await isSuperseded(marks, sources: migration.sources, besides: destination, in: open)
        }
        // Where the key was before, it may have been removed before anything was brought to it.
        for former in try await formerDestinations(of: migration.destinationDescriptor, at: destination.address.place) {
            for marks in try await Ledger(access, of: former).page().rows.compactMap(\.superseded)
            where try await isSuperseded(marks, sources: migration.sources, besides: destination, in: former.open) {
                return true
            }
        }
        return false
    }

    /// The rows of other stores' ledgers; a store that cannot be read has none.
    private func supersededElsewhere(
        _ id: String, _ destination: ResolvedKey
    ) async -> (marks: [LedgerRow.Change], open: OpenStore)? {
        let domain = destination.address.place.domain
        let snapshot = snapshot
        guard let stores = try? await onIOThread({ () throws(StorageError) in snapshot.holders(of: domain) })
        else { return nil }
        for open in stores {
            guard let ledger = try? Ledger(access, of: "\(destination.address)", in: open) else { continue }
            if let marks = try? await ledger.page()[id]?.superseded { return (marks, open) }
        }
        return nil
    }

    /// The same for one value of a migration of many.
    func isSuperseded(
        _ key: AnyStorageKey, by migration: AnyBulkMigration
    ) async throws(StorageError) -> Bool {
        let destination = try await access.resolve(KeyReference(key))
        let row = try await Ledger(access, of: destination).page()[migration.id]
        let elsewhere = row == nil ? await supersededElsewhere(migration.id, destination) : nil
        guard let (marks, open) = row?.superseded.map({ ($0, destination.open) }) ?? elsewhere else { return false }
        let source = migration.source.key(migration.sourceName(of: key.descriptor.name))
        return try await isSuperseded(marks, sources: [source], besides: destination, in: open)
    }

    /// - Parameter open: The store whose ledger says so.
    private func isSuperseded(
        _ marks: [LedgerRow.Change], sources: [AnyStorageKey], besides destination: ResolvedKey, in open: OpenStore
    ) async throws(StorageError) -> Bool {
        var known: [ResolvedKey.Target: LedgerRow.Change] = [:]
        var keys = sources
        for change in marks {
            let key = try change.key
            known[try await access.resolveUnlisted(KeyReference(key)).target] = change
            keys.append(key)
        }
        for key in keys {
            let source = try await access.resolveUnlisted(KeyReference(key))
            guard source.target != destination.target, let mark = try await source.mark() else { continue }
            guard let change = known[source.target] else { return false }
            if change.before == mark { continue }
            guard await SourceWitness.knows(source, change.witness, of: destination, in: open) else {
                return false
            }
        }
        return true
    }
}
