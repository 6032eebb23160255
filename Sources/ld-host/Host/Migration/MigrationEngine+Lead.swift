internal import HostGround
internal import HostPlugins
internal import HostStores
internal import HostSync
package import LocalDataAPI

/// Values that take part in sync are migrated by one device of the group, the one that leads it, and come to the others
/// by sync: otherwise each device would bring its own older data, and all but one would lose.
extension MigrationEngine {
    /// Why a migration is left to the device that leads the sync group; `nil` if this device runs it.
    ///
    /// - Throws: `validationFailed` if it would take values from the other devices; what keeps the standing from being
    ///   read.
    func reasonToWait(_ migration: AnyStorageMigration) async throws -> String? {
        // What a key had at another place is not older data, but the value that this device has of the key.
        if migration.origin == .formerPlace { return nil }
        let key = migration.destinationDescriptor
        if takesPart(key, KnownMigration.single(migration).packPolicy) {
            guard let standing = try await standing() else { return nil }
            if let reason = standing.reasonToWait { return reason }
            // Only sync knows which version of the value it is that a chain converts. Whatever else did so would look
            // like a later change, and win against what another device has set meanwhile.
            return migration.origin == .chain && !isOfSync
                ? "its value takes part in sync, which brings it to the current version" : nil
        }
        guard migration.effect == .brings, let source = migration.sources.first(where: { takesPart($0.descriptor) }),
            try await standing() != nil
        else { return nil }
        throw MigrationError(
            .validationFailed,
            "it removes '\(source.address)', which takes part in sync, and brings it to '\(key.domain)/\(key.name)', which "
                + "does not: the other devices would lose the value before they have migrated it; give the destination "
                + "the source's sync policy, or take that of the source away")
    }

    /// - Throws: `migrationInProgress` if a key has no value, and the device that leads the sync group is to migrate
    ///   one that took part in sync, whether or not this device has it: an app that takes the value for absent would
    ///   store its default over it.
    func requireNothingWaits(for key: AnyStorageKey, _ migrations: [AnyStorageMigration]) async throws {
        for migration in migrations where migration.effect == .brings {
            // What only this device has may be nothing that another one brings.
            let synced = migration.sources.filter { $0.descriptor.syncPolicy != .never }
            guard !synced.isEmpty, Self.reasonToSkip(migration, settings) == nil,
                let reason = try await reasonToWait(migration)
            else { continue }
            let resolved = try await access.resolveUnlisted(KeyReference(key))
            if try await resolved.exists() { return }
            let list = synced.map { "'\($0.address)'" }.joined(separator: " and ")
            let whose: String
            if try await hasPendingData(for: key, resolved) {
                whose = "this device has an older one"
            } else if try await isOneKeptAside(of: synced) {
                whose = "another device of the sync group has an older one"
            } else {
                continue
            }
            throw MigrationError(
                of: migration.id,
                MigrationError(
                    .migrationInProgress, "'\(resolved.address)' has no value yet, and \(whose) in \(list): \(reason)"))
        }
    }

    /// The sources of a migration whose values take part in sync in earlier releases of the app only.
    package func formerKeys(of migration: AnyStorageMigration) -> [AnyStorageKey] {
        guard migration.effect == .brings, migration.origin != .formerPlace,
            takesPart(migration.destinationDescriptor, KnownMigration.single(migration).packPolicy)
        else { return [] }
        return migration.sources.filter { source in
            guard source.descriptor.syncPolicy != .never, let place = try? place(of: source) else { return false }
            return listed.entries[StorageAddress(place, name: source.descriptor.name)] == nil
        }
    }

    /// Stores what only other devices of the group have of a migration's sources where this device would have it, for
    /// the migration to bring: otherwise they would wait for ever for the device that leads. Not if the migration has
    /// run, or its destination has a value.
    func adoptSources(of migration: AnyStorageMigration) async throws {
        let sources = formerKeys(of: migration)
        guard !sources.isEmpty, try await standing() == .leads else { return }
        let destination = try await access.resolveUnlisted(KeyReference(migration.destinationKey))
        guard try await !destination.exists(),
            try await Ledger(access, of: destination).page()[migration.id] == nil
        else { return }
        for source in sources {
            let resolved = try await access.resolveUnlisted(KeyReference(source))
            if try await !resolved.exists() { try await adopt(source, resolved) }
        }
    }

    /// Whether other devices have published a value of one of the keys that this device has never had: an earlier
    /// release of the app knew the key.
    private func isOneKeptAside(of keys: [AnyStorageKey]) async throws -> Bool {
        for key in keys {
            let resolved = try await access.resolveUnlisted(KeyReference(key))
            if try await isKeptAside(resolved) { return true }
        }
        return false
    }

    /// The names of the sources whose values a bulk migration leaves to the device that leads the sync group.
    func waitingNames(_ migration: AnyBulkMigration) async throws(StorageError) -> Set<String> {
        guard let place = try? settings.place(of: migration.destination.domain) else { return [] }
        let synced = listed.entries.filter {
            $0.key.place == place && migration.destination.contains($0.key.name)
                && $0.value.descriptor.syncPolicy != .never
        }
        guard !synced.isEmpty, try await standing()?.reasonToWait != nil else { return [] }
        return Set(synced.keys.map { migration.sourceName(of: $0.name) })
    }

    /// Whether another device migrates a key's older data.
    func isLedByOther(_ address: StorageAddress, _ packPolicy: SyncPolicy) async -> Bool {
        guard takesPart(address, packPolicy) else { return false }
        // What cannot be read may say so.
        do throws(StorageError) { return try await standing()?.reasonToWait != nil } catch { return true }
    }

    private func takesPart(_ key: StorageKeyDescriptor, _ packPolicy: SyncPolicy = .never) -> Bool {
        guard let place = try? settings.place(of: key.domain) else { return false }
        return takesPart(StorageAddress(place, name: key.name), packPolicy)
    }

    /// Whether the values of a key take part in sync: as its catalog says, or else, where the app has registered none,
    /// the pack that knows it.
    private func takesPart(_ address: StorageAddress, _ packPolicy: SyncPolicy) -> Bool {
        if let listed = listed.entries[address] { return listed.descriptor.syncPolicy != .never }
        return snapshot.catalog == nil && packPolicy != .never
    }

    private var listed: CatalogIndex { snapshot.catalog ?? snapshot.described }
}

extension KnownMigration {
    /// The sync policy that a pack gives the destination.
    var packPolicy: SyncPolicy {
        guard case .single(let migration) = self, migration.pack != nil else { return .never }
        return migration.destinationDescriptor.syncPolicy
    }
}
