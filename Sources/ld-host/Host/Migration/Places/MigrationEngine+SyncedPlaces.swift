internal import ByteCoding
internal import HostGround
package import HostStores
package import HostSync
package import LocalDataAPI

/// The places of keys that take part in sync.
extension MigrationEngine {
    /// Brings the value of a key that takes part in sync to where the key is now, so that sync does not take it for
    /// removed.
    ///
    /// - Returns: Where it was brought from, at this time or before; `nil` if it was stored where it is.
    /// - Throws: Why it cannot be brought.
    package func bringForSync(_ key: AnyStorageKey, _ resolved: ResolvedKey) async throws -> SyncOrigin? {
        try await settlePlace(of: key, resolved)
        if try await !resolved.exists(), let former = try await migrationFromFormerPlace(of: key),
            try await !isDeclared(former, in: migrations(for: key).filter { $0.id != former.id })
        {
            _ = try await migrate(former, onConflict: nil)
        }
        guard let data = try await resolved.data() else {
            // If no place has it any more, it was removed where it was last.
            guard try await formerPlaces(of: key).isEmpty else { return nil }
            let last = try await freePlaces(of: key).max { $0.last < $1.last }
            return last.map { SyncOrigin(address: "\($0.address)", digest: nil, modified: nil) }
        }
        guard let origin = try await origin(of: key, resolved) else { return nil }
        return SyncOrigin(
            address: "\(origin.address)", digest: StableHash.of(data), modified: await modified(key))
    }

    /// The addresses by which devices that run other releases of the app may know a key.
    package func formerAddresses(of key: AnyStorageKey) async throws(StorageError) -> [String] {
        try await freePlaces(of: key).map { "\($0.address)" }
    }

    /// The addresses of keys that take part in sync in earlier releases, and whose values migrations bring to a key.
    package func sourceAddresses(of key: AnyStorageKey) throws(StorageError) -> [String] {
        var addresses: Set<String> = []
        for source in formerKeys(of: key) {
            addresses.insert("\(StorageAddress(try place(of: source), name: source.descriptor.name))")
        }
        return addresses.sorted()
    }

    /// Those keys.
    package func formerKeys(of key: AnyStorageKey) -> [AnyStorageKey] {
        guard key.migration != nil || !registry.isEmpty else { return [] }
        func address(_ key: StorageKeyDescriptor) -> StorageAddress? {
            (try? settings.place(of: key.domain)).map { StorageAddress($0, name: key.name) }
        }
        let own = address(key.descriptor)
        let registered = registry.migrations.filter { address($0.destinationDescriptor) == own }
        return (registered + [key.migration].compactMap(\.self)).flatMap { formerKeys(of: $0) }
    }

    /// The place from which a key's value was brought; `nil` if it was stored where it is.
    private func origin(
        of key: AnyStorageKey, _ resolved: ResolvedKey
    ) async throws(StorageError) -> PlaceRecord.Known? {
        let key = key.descriptor
        return try await record(key.owner, key.name)?.origin(of: resolved.address.place, key.domain)
    }

    /// When the values were written that a migration brings, the latest of them; `nil` if that is not known, or does
    /// not matter.
    func sourceModified(of migration: AnyStorageMigration) async -> Int64? {
        let isMove = migration.origin == .formerPlace
        guard isMove || migration.destinationDescriptor.syncPolicy != .never else { return nil }
        var latest: Int64?
        for source in migration.sources {
            if let time = await modified(source) { latest = max(latest ?? time, time) }
        }
        return latest
    }

    /// When what a migration has made the value of a key of was written, in nanoseconds since 1970 UTC; `nil` if the
    /// value is another one by now.
    package func sourceModified(of resolved: ResolvedKey) async throws(StorageError) -> Int64? {
        let rows = try await Ledger(access, of: resolved).page().rows
        guard let row = rows.filter({ $0.sourceModified != nil }).max(by: { $0.committed < $1.committed }),
            let stored = try await resolved.stored()
        else { return nil }
        let digest = StableHash.of(stored)
        return row.written.contains { $0.after == digest } ? row.sourceModified : nil
    }

    /// When a key's value was written, in nanoseconds since 1970 UTC: where the key was then, if the value was brought
    /// from there; `nil` if that is not known.
    func modified(_ key: AnyStorageKey) async -> Int64? {
        guard let resolved = try? await access.resolveUnlisted(KeyReference(key)) else { return nil }
        guard (try? await origin(of: key, resolved)) == nil else {
            let rows = try? await Ledger(access, of: resolved).page().rows
            return rows?.filter { $0.sourceModified != nil }.max { $0.committed < $1.committed }?.sourceModified
        }
        return try? await resolved.storedAttributes()?.modified
    }
}
