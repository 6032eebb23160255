internal import HostGround
internal import HostPlugins
internal import HostSealing
package import HostStores
package import LocalDataAPI

/// Values that may not be the key's, though they are where the key is now.
extension MigrationEngine {
    /// Makes sure that the value at a key's place is the key's, before it is read: brings a newer one that was stored
    /// at another place, e.g. by an earlier or a later release.
    ///
    /// - Throws: What ``requireOwner(_:_:)`` throws; `conflict` if the place has an older value than another one, and
    ///   nothing shows that both belong to one key.
    package func settlePlace(of key: AnyStorageKey, _ resolved: ResolvedKey) async throws {
        try await requireOwner(key.descriptor, resolved)
        guard !Self.isMigrating, let migration = try await newerElsewhere(key, resolved) else { return }
        try await removeUnsealed(key, resolved)
        _ = try await migrate(migration, onConflict: nil)
    }

    /// Removes an older value from before its key was sealed, which cannot be opened, as the migration of the newer one
    /// would have to. What another program sets at this moment stays.
    private func removeUnsealed(_ key: AnyStorageKey, _ resolved: ResolvedKey) async throws {
        guard !resolved.layers.isEmpty, resolved.refusal == nil, resolved.store.abilities.conditional != nil else {
            return
        }
        let found = try await resolved.open.read("reading '\(resolved.address)'") { (store) throws(StorageError) in
            try store.revisioned(resolved.handle)
        }
        guard let found, !EnvelopeStart(found.data).isEnvelope, try await newerElsewhere(key, resolved) != nil else {
            return
        }
        _ = try await resolved.remove(ifRevision: found.revision)
    }

    /// The migration that brings a newer value than the one at a key's place; `nil` if that is the newest, or absent.
    package func newerElsewhere(_ key: AnyStorageKey, _ resolved: ResolvedKey) async throws -> AnyStorageMigration? {
        let (descriptor, place) = (key.descriptor, resolved.address.place)
        guard let record = try await record(descriptor.owner, descriptor.name),
            record.isSuspect(place, of: descriptor.domain), try await resolved.exists()
        else { return nil }
        guard let migration = try await migrationFromFormerPlace(of: key), migration.conflictPolicy == .takeSource
        else {
            // What was newer is gone, so this value counts again.
            await noteBrought([(descriptor, resolved)], from: [])
            return nil
        }
        // A copy that was never changed is no value of another key.
        if !snapshot.isCatalogued(resolved.address), let here = record[place], here.set > 0 {
            let newer = migration.sources.first?.place.map { "'\($0)/\(descriptor.name)'" } ?? "another place"
            throw MigrationError(
                .conflict,
                "'\(resolved.address)' has an older value than \(newer), where a key of this owner and name was stored "
                    + "later; register a catalog with the key if it has moved here, or with both if they are two keys")
        }
        return migration
    }

    /// - Throws: `conflict` if a key of another owner has stored the value at an address, and no catalog lists this one
    ///   there.
    package func requireOwner(_ key: StorageKeyDescriptor, _ resolved: ResolvedKey) async throws {
        guard !key.owner.isEmpty, !snapshot.isCatalogued(resolved.address) else { return }
        let own = PlaceHistory.Key(app: settings.appID, owner: key.owner, name: key.name)
        let others = history.otherOwners(of: resolved.address, than: own)
        guard let other = others.first, try await resolved.exists() else { return }
        let recorded = try? await resolved.storedAttributes(deriving: false)?.owner
        guard recorded != key.owner else { return }
        let owner = recorded ?? other.owner
        throw StorageError(
            .conflict,
            "'\(resolved.address)' belongs to a key of '\(owner)', and was asked for by one of '\(key.owner)'",
            hint:
                "give one of them another name or suite; if its owner was renamed, register a catalog that lists the key"
        )
    }

    /// Whether a former place has the key's value.
    package func isElsewhere(_ key: AnyStorageKey, _ resolved: ResolvedKey) async throws -> Bool {
        guard !Self.isMigrating, try await mayBeElsewhere(key.descriptor, resolved.address.place),
            let migration = try await migrationFromFormerPlace(of: key)
        else { return false }
        return try await !isSettled(migration, at: resolved)
    }

    /// Whether a migration has nothing more to bring, since it has run, or since its key was set or removed without it.
    private func isSettled(_ migration: AnyStorageMigration, at resolved: ResolvedKey) async throws -> Bool {
        let page = try await Ledger(access, of: resolved).page()
        if try await isSuperseded(migration, at: resolved, page) { return true }
        if try await isSupersededElsewhere(migration, at: resolved, page) { return true }
        guard let row = page[migration.id] else { return false }
        let trial = MigrationTrial(
            engine: self, migration: migration, destination: resolved, policy: migration.conflictPolicy)
        return try await trial.standing(of: row) == .done
    }

    /// Whether `get` would bring data to a key that has no value. Runs no migration, but asks its condition.
    ///
    /// - Parameter path: The migrations that need the key.
    package func hasPendingData(
        for key: AnyStorageKey, _ resolved: ResolvedKey, for path: [String] = []
    ) async throws -> Bool {
        guard try await mayBringData(to: key) else { return false }
        var migrations = try await migrations(for: key)
        if !migrations.contains(where: { $0.origin == .formerPlace }),
            let former = try await migrationFromFormerPlace(of: key)
        {
            migrations.append(former)
        }
        for migration in migrations where migration.effect == .brings {
            if Self.reasonToSkip(migration, settings) != nil { continue }
            if try await isSettled(migration, at: resolved) { continue }
            let page = try await Ledger(access, of: resolved).page()
            let context = try await migrationContext(for: migration, page, settings)
            let transaction = MigrationTransaction(access, keepsViews: false)
            if try await migration.shouldMigrate(using: transaction, context: context) { return true }
            guard !path.contains(migration.id) else { continue }
            do {
                for source in try await emptySources(of: migration) {
                    if try await hasPendingData(for: source.key, source.resolved, for: path + [migration.id]) {
                        return true
                    }
                }
            } catch { throw MigrationError(of: migration.id, error) }
        }
        for migration in try await bulkMigrations(for: key) {
            let source = migration.source.key(migration.sourceName(of: key.descriptor.name))
            guard try await access.resolveUnlisted(KeyReference(source)).exists() else { continue }
            if try await !isSuperseded(key, by: migration) { return true }
        }
        return false
    }
}
