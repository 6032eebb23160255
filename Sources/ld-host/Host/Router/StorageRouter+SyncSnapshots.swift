public import FoundationEssentials
internal import LocalDataAPI

/// Values for apps that carry them on their own.
extension StorageRouter {
    /// The values of all registered keys with a sync policy, serialized, by their addresses: for an app that sends them
    /// to another device of its own, in whatever way. They are not sealed. Larger ones than `sync.maxAutoSyncSize` are
    /// left out, and so is what cannot be read.
    public func syncSnapshot() async -> [String: Data] {
        guard let snapshot = try? await snapshot() else { return [:] }
        var values: [String: Data] = [:]
        for key in await eligibleKeys(snapshot) {
            guard let resolved = try? await resolve(KeyReference(key)), let data = try? await resolved.data(),
                data.count <= snapshot.settings.sync.maxAutoSyncSize
            else { continue }
            values["\(resolved.address)"] = data
        }
        return values
    }

    /// Stores the values of another device's snapshot, all or none. Those of keys that are not registered here, or have
    /// no sync policy, are left out.
    ///
    /// - Returns: The addresses of the values that were stored, ascending.
    /// - Throws: `deserializationFailed` for a value that is not valid for its key; then nothing has changed.
    @discardableResult
    public func apply(snapshot values: [String: Data]) async throws -> [String] {
        var batch = StorageBatch()
        var addresses: [String] = []
        for key in await eligibleKeys(try await snapshot()) {
            let address = "\(try await resolve(KeyReference(key)).address)"
            guard let data = values[address] else { continue }
            try key.check(data)
            batch.setData(data, for: key)
            addresses.append(address)
        }
        try await apply(batch)
        return addresses.sorted()
    }

    /// The keys whose values take part in sync here: those of catalogs, and where the app has registered none, those
    /// that migration packs know.
    func eligibleKeys(_ snapshot: RouterSnapshot) async -> [AnyStorageKey] {
        var keys = (snapshot.catalog ?? snapshot.described).entries
        if snapshot.catalog == nil, !snapshot.packs.isEmpty {
            do { try await engine(snapshot).loadPacks() } catch {
                snapshot.log(.warning, "sync", "keys of migration packs do not take part: \(error)")
            }
            for migration in migrationRegistry.migrations where migration.pack != nil {
                let key = migration.destinationKey
                guard let place = try? snapshot.settings.place(of: key.descriptor.domain) else { continue }
                let address = StorageAddress(place, name: key.descriptor.name)
                if keys[address] == nil { keys[address] = key }
            }
        }
        return keys.values.filter {
            $0.descriptor.syncPolicy != .never && $0.descriptor.availability.isAvailable(on: snapshot.settings.role)
        }
    }
}
