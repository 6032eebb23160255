public import FoundationEssentials
public import LocalDataAPI

/// Access by keys whose type is not known here: what tools, catalogs and migrations use.
extension StorageRouter {
    /// The key at an address `domain[:scope]/name`: as a catalog describes it, or else with its domain's own policy and
    /// its values as the bytes that they are.
    ///
    /// - Throws: `invalidAddress` with what is wrong with the text.
    public func key(at address: String) async throws -> AnyStorageKey {
        try await key(as: try StorageKeyDescriptor(address: address))
    }

    /// The same for a name in a domain.
    package func key(named name: String, in domain: StorageDomain) async throws -> AnyStorageKey {
        try await key(as: StorageKeyDescriptor(name: name, domain: domain))
    }

    private func key(as descriptor: StorageKeyDescriptor) async throws -> AnyStorageKey {
        let snapshot = try await snapshot()
        let place = try snapshot.settings.place(of: descriptor.domain)
        let full = StorageAddress(place, name: descriptor.name)
        return snapshot.catalog?.entries[full] ?? snapshot.described.entries[full] ?? AnyStorageKey(descriptor)
    }

    /// Throws what would keep a key's values from being read or written here, before anyone is asked for one.
    public func checkUsable(_ key: AnyStorageKey) async throws {
        if let refusal = try await resolve(KeyReference(key)).refusal { throw refusal }
    }

    /// The serialized bytes, or `nil` if there are none. Older data is brought first, as by `get`.
    public func data(for key: AnyStorageKey) async throws -> Data? {
        let resolved = try await resolve(KeyReference(key))
        if let data = try await resolved.data() { return data }
        let engine = try await engine()
        guard try await engine.mayBringData(to: key) else { return nil }
        try await engine.bringData(to: key)
        return try await resolved.data()
    }

    /// Stores serialized bytes in place of what is there.
    public func setData(_ data: Data, for key: AnyStorageKey) async throws {
        let resolved = try await resolve(KeyReference(key))
        var isSet = false
        let engine = try await engine()
        if try await engine.mayBringData(to: key) { isSet = try await engine.applySuperseding(data, resolved, key) }
        await note(resolved, key.descriptor)
        if !isSet { try await resolved.set(data) }
    }

    /// Removes the value; fine if there is none.
    public func remove(_ key: AnyStorageKey) async throws { _ = try await removeIfStored(key) }

    /// Removes the value, and tells whether there was one.
    public func removeIfStored(_ key: AnyStorageKey) async throws -> Bool {
        let resolved = try await resolve(KeyReference(key))
        let engine = try await engine()
        guard try await engine.mayBringData(to: key) else { return try await resolved.remove() }
        let isStored = try await resolved.exists()
        return try await engine.applySuperseding(nil, resolved, key) ? isStored : try await resolved.remove()
    }

    /// Whether a value is stored, even an empty one.
    public func exists(_ key: AnyStorageKey) async throws -> Bool { try await resolve(KeyReference(key)).exists() }

    /// The stored value's attributes; `nil` if there is no value, or empty if nothing is known. Those of a sealed value
    /// are authentic but for size and time, which are the store's.
    ///
    /// - Throws: `cannotOpen` if a sealed value's envelope or its first chunk was changed.
    public func attributes(of key: AnyStorageKey) async throws -> ValueAttributes? {
        try await resolve(KeyReference(key)).storedAttributes()
    }

    /// The same for lists: of a value whose key takes a slow derivation only size and time, as the store has them.
    public func attributesAtOnce(of key: AnyStorageKey) async throws -> ValueAttributes? {
        try await resolve(KeyReference(key)).storedAttributes(deriving: false)
    }
}
