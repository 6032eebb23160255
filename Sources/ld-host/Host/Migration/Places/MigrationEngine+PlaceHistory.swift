internal import HostGround
internal import HostPlugins
package import HostStores
package import LocalDataAPI
internal import Synchronization

/// What is known of where keys' values are and were.
extension MigrationEngine {
    var history: PlaceHistory { snapshot.places }

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
}
