internal import HostGround
internal import HostPlugins
internal import HostSealing
package import HostStores
package import LocalDataAPI
internal import Synchronization

/// Values of keys that have moved to another place without a migration that says so.
extension MigrationEngine {
    private var history: PlaceHistory { snapshot.places }

    /// Remembers what is done with keys' values.
    ///
    /// - Parameter isUse: Whether the app uses the keys there now.
    package func note(_ events: [(event: PlaceEvent, key: StorageKeyDescriptor, place: StorageNamespace)], isUse: Bool)
        async
    {
        let (history, folders, app) = (history, settings.folders, settings.appID)
        let entries = events.map { (event: $0.event, entry: PlaceEntry($0.key, at: $0.place, of: app)) }
        guard !entries.isEmpty else { return }
        _ = try? await onIOThread { () throws(StorageError) in history.add(entries, isUse: isUse, folders) }
    }

    /// Remembers what the app does with a key's value.
    package func note(_ event: PlaceEvent, _ resolved: ResolvedKey, _ descriptor: StorageKeyDescriptor) async {
        switch event {
        case .set: resolved.isNoted.store(true, ordering: .relaxed)
        case .removed: resolved.isNoted.store(false, ordering: .relaxed)
        default: break
        }
        resolved.isUsed.store(true, ordering: .relaxed)
        // What is gone with the process is not missed by another.
        guard !resolved.open.isGoneWithProcess, !descriptor.owner.isEmpty else { return }
        // The order of removals decides only between places.
        if event == .removed, (try? await mayBeElsewhere(descriptor, resolved.address.place)) != true { return }
        await note([(event, descriptor, resolved.address.place)], isUse: true)
    }

    /// Remembers where the app stores many keys' values.
    package func noteWrites(_ writes: [(key: StorageKeyDescriptor, resolved: ResolvedKey)]) async {
        for (_, resolved) in writes {
            resolved.isNoted.store(true, ordering: .relaxed)
            resolved.isUsed.store(true, ordering: .relaxed)
        }
        let lasting = writes.filter { !$0.resolved.open.isGoneWithProcess && !$0.key.owner.isEmpty }
        await note(lasting.map { (.set, $0.key, $0.resolved.address.place) }, isUse: true)
    }

    /// Remembers where a migration, or the host itself, has brought values.
    func noteBrought(_ keys: [(key: StorageKeyDescriptor, resolved: ResolvedKey)], from sources: [AnyStorageKey]) async
    {
        let left = sources.compactMap { source in
            (source.place ?? (try? settings.place(of: source.descriptor.domain))).map {
                (event: PlaceEvent.left, key: source.descriptor, place: $0)
            }
        }
        let found = keys.filter { !$0.resolved.open.isGoneWithProcess }.map {
            (event: PlaceEvent.found, key: $0.key, place: $0.resolved.address.place)
        }
        await note(left + found, isUse: false)
    }

    /// What is known of a key's places. Reads the history if it has not been read.
    func record(_ owner: String, _ name: String) async throws(StorageError) -> PlaceRecord? {
        guard !owner.isEmpty else { return nil }
        let (history, folders) = (history, settings.folders)
        if !history.isLoaded(folders) {
            try await onIOThread { () throws(StorageError) in history.refresh(folders) }
        }
        let app = settings.appID
        let own = history.record(of: PlaceHistory.Key(app: app, owner: owner, name: name))
        // What a pack has brought has no owner, and what was restored may belong to this app.
        let others = [
            history.record(of: PlaceHistory.Key(app: app, owner: "", name: name)),
            app.isEmpty ? nil : history.record(of: PlaceHistory.Key(app: "", owner: owner, name: name)),
        ].compactMap { $0 }
        return others.isEmpty ? own : others.reduce(own ?? PlaceRecord()) { $0.adding($1) }
    }

    /// Whether a key's value may be at another place than `place`.
    package func mayBeElsewhere(_ key: StorageKeyDescriptor, _ place: StorageNamespace) async throws(StorageError)
        -> Bool
    {
        try await record(key.owner, key.name)?.others(than: place, of: key.domain).isEmpty == false
    }

    /// The same for a key without its description.
    func mayBeElsewhere(
        _ owner: String, _ name: String, _ domain: StorageDomain
    ) async throws(StorageError) -> Bool {
        guard let record = try await record(owner, name) else { return false }
        return try !record.others(than: settings.place(of: domain), of: domain).isEmpty
    }

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

    /// Remembers that a key is not at its former places any more.
    package func noteLeft(_ key: AnyStorageKey) async throws {
        await noteBrought([], from: try await migrationsFromFormerPlaces(of: key).flatMap(\.sources))
    }

    /// Remembers that values of keys were moved on: when the new key is removed, what is still at the keys' own former
    /// places must not come back.
    func noteMovedAway(_ sources: [AnyStorageKey], _ removed: [ResolvedKey.Target]) async {
        for source in sources where source.place == nil {
            guard let resolved = try? await access.resolveUnlisted(KeyReference(source)),
                removed.contains(resolved.target),
                (try? await mayBeElsewhere(source.descriptor, resolved.address.place)) == true
            else { continue }
            try? await noteLeft(source)
            await note([(.removed, source.descriptor, resolved.address.place)], isUse: false)
        }
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

extension StorageKeyDescriptor {
    /// The same key, of nobody in particular.
    var withoutOwner: Self {
        StorageKeyDescriptor(
            name: name, domain: domain, security: security, serializer: serializer, valueType: valueType, owner: "",
            description: description)
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
