internal import FoundationEssentials
internal import LocalDataAPI

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

extension LedgerRow.Change {
    /// Whether both are about the same bytes of the same value.
    func isSame(as other: Self) -> Bool {
        var own = self
        own.witness = other.witness
        return own == other
    }
}
