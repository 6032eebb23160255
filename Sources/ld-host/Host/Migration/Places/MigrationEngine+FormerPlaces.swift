internal import HostGround
internal import HostPlugins
internal import HostSealing
package import HostStores
package import LocalDataAPI

/// Values of keys that have moved to another place without a migration that says so.
extension MigrationEngine {
    /// The other places that have a value which may be the key's. A place counts unless something shows that another
    /// key lives there: it has another suite, service, group or folder, a registered catalog has a key there, or this
    /// router uses one there.
    ///
    /// - Throws: Why one of them cannot be looked at: without that, nobody knows whether the key has a value.
    func formerPlaces(of key: AnyStorageKey) async throws -> [PlaceRecord.Known] {
        var found: [PlaceRecord.Known] = []
        for known in try await freePlaces(of: key) {
            if try await access.resolveUnlisted(KeyReference(AnyStorageKey(known.entry))).exists() {
                found.append(known)
            }
        }
        return found
    }

    func place(of key: AnyStorageKey) throws(StorageError) -> StorageNamespace {
        if let place = key.place { return place }
        return try settings.place(of: key.descriptor.domain)
    }

    /// The migration that brings a key's value from the place where it was before the key's domain, standard directory
    /// or sub-directory was changed; `nil` if absent.
    ///
    /// Of several places, the one counts that got its value last. Without a catalog, the value is copied: the key that
    /// wrote it may still be in use.
    ///
    /// - Throws: `conflict` if nothing shows which of several places has the key's value.
    func migrationFromFormerPlace(of key: AnyStorageKey) async throws -> AnyStorageMigration? {
        let descriptor = key.descriptor
        guard let record = try await record(descriptor.owner, descriptor.name) else { return nil }
        let place = try self.place(of: key)
        let sources = record.latest(of: try await formerPlaces(of: key))
        guard let source = sources.first else { return nil }
        guard sources.count == 1 else {
            let list = sources.map { "'\($0.entry.place)/\(descriptor.name)'" }.joined(separator: " and ")
            throw MigrationError(
                .conflict,
                "'\(StorageAddress(place, name: descriptor.name))' has no value, and \(list) have one that may be its; "
                    + "remove all but one")
        }
        let isCatalogued = snapshot.isCatalogued(StorageAddress(place, name: descriptor.name))
        // A value here that is older than that one is not the key's any more.
        let isOlder =
            record.isSuspect(place, of: descriptor.domain)
            && source.last > max(record[place]?.last ?? 0, record.removed)
        return AnyStorageMigration(
            FormerPlaceMigration(
                source: try await storedKey(source.entry), place: place, destination: key, isCopy: !isCatalogued,
                conflictPolicy: isOlder ? .takeSource : .keepDestination))
    }

    /// The key at a former place, with the policy that its value has: the key may have changed that, too.
    private func storedKey(_ entry: PlaceEntry) async throws -> AnyStorageKey {
        let plain = try await access.resolveUnlisted(KeyReference(AnyStorageKey(entry, security: SecurityPolicy.none)))
        if plain.refusal != nil { return AnyStorageKey(entry) }
        let start = try await plain.open.wait("reading '\(plain.address)'") { () throws(StorageError) in
            try plain.sealed.start()
        }
        switch start {
        case .header(let header) where header.ring != nil && entry.security == .none:
            return AnyStorageKey(entry, security: .recommended)
        case .other where plain.layers.isEmpty: return AnyStorageKey(entry, security: SecurityPolicy.none)
        default: return AnyStorageKey(entry)
        }
    }

    /// The other places of a key that no other key has now, whether or not there is a value.
    func freePlaces(of key: AnyStorageKey) async throws(StorageError) -> [PlaceRecord.Known] {
        guard let record = try await record(key.descriptor.owner, key.descriptor.name) else { return [] }
        return record.others(than: try place(of: key), of: key.descriptor.domain).filter {
            !history.isCurrent($0.entry) && !snapshot.isCatalogued($0.address)
        }
    }

    /// The migrations from all former places, whichever has the key's value: all of them are superseded if the key is
    /// set or removed.
    func migrationsFromFormerPlaces(of key: AnyStorageKey) async throws -> [AnyStorageMigration] {
        let place = try self.place(of: key)
        return try await formerPlaces(of: key).map {
            AnyStorageMigration(
                FormerPlaceMigration(source: AnyStorageKey($0.entry), place: place, destination: key, isCopy: true))
        }
    }

    /// Removes a key's values at its former places, if a catalog says that they are the key's: the one that `get` would
    /// bring, and older ones.
    ///
    /// - Returns: Whether there was one.
    package func removeElsewhere(_ key: AnyStorageKey, _ resolved: ResolvedKey) async throws -> Bool {
        guard snapshot.isCatalogued(resolved.address),
            let record = try await record(key.descriptor.owner, key.descriptor.name)
        else { return false }
        let former = try await formerPlaces(of: key)
        // If the order shows which of them has the key's value, the others have older ones.
        let own = record.latest(of: former).count == 1 ? former : former.filter(\.wasCopied)
        var isRemoved = false
        for known in own where try await access.resolveUnlisted(KeyReference(AnyStorageKey(known.entry))).remove() {
            isRemoved = true
        }
        return isRemoved
    }

    /// The places where a key was before, whether or not there is a value.
    func formerDestinations(
        of key: StorageKeyDescriptor, at place: StorageNamespace
    ) async throws(StorageError) -> [ResolvedKey] {
        var found: [ResolvedKey] = []
        for known in try await record(key.owner, key.name)?.others(than: place, of: key.domain) ?? [] {
            found.append(try await access.resolveUnlisted(KeyReference(AnyStorageKey(known.entry))))
        }
        return found
    }

    /// Whether a migration brings a value that was stored after the last change of its key at its present place, as
    /// an earlier release does that is used again. What the ledger says of such a value is about an earlier one.
    func bringsNewer(_ migration: AnyStorageMigration) async throws(StorageError) -> Bool {
        guard migration.origin == .formerPlace, let source = migration.sources.first?.place else {
            return false
        }
        let key = migration.destinationDescriptor
        guard let record = try await record(key.owner, key.name), let known = record[source] else { return false }
        return record.isNewer(known, thanAt: try place(of: migration.destinationKey))
    }
}

/// A key that a catalog has, and whose value may be at either of two former places.
package struct FormerPlaceConflict: Sendable {
    let destination: String
    package let error: MigrationError

    /// The id in place of a missing migration's.
    var id: String { "moved to \(destination)" }
}

extension MigrationEngine {
    /// The migrations that bring the values of keys that catalogs have from where they were before the keys' places
    /// were changed, in the order of the keys' addresses.
    package func formerPlaceMigrations() async throws -> (
        migrations: [AnyStorageMigration], conflicts: [FormerPlaceConflict]
    ) {
        let keys = snapshot.described.entries.merging(snapshot.catalog?.entries ?? [:]) { $1 }
        var (migrations, conflicts): ([AnyStorageMigration], [FormerPlaceConflict]) = ([], [])
        for (address, key) in keys.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            do {
                if let migration = try await migrationFromFormerPlace(of: key) { migrations.append(migration) }
            } catch let error as MigrationError {
                conflicts.append(FormerPlaceConflict(destination: "\(address)", error: error))
            }
        }
        return (migrations, conflicts)
    }
}

extension AnyStorageKey {
    /// A key at a place of the history.
    ///
    /// - Parameter security: Another policy than the recorded one.
    init(_ entry: PlaceEntry, security: SecurityPolicy? = nil) {
        self.init(
            StorageKeyDescriptor(
                name: entry.name, domain: .custom(name: entry.domain, scope: entry.scope),
                security: security ?? entry.security,
                serializer: entry.serializer, valueType: entry.type, owner: entry.owner, description: ""),
            at: entry.place)
    }
}
