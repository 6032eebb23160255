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
        if let data = try await data(of: resolved) { return data }
        guard try await mayBringData(to: key) else { return nil }
        try await bringData(to: key)
        return try await data(of: resolved)
    }

    /// Stores serialized bytes in place of what is there.
    public func setData(_ data: Data, for key: AnyStorageKey) async throws {
        let resolved = try await resolve(KeyReference(key))
        var isSet = false
        if try await mayBringData(to: key) { isSet = try await applySuperseding(data, resolved, key) }
        await note(resolved, key.descriptor)
        if !isSet { try await store(data, resolved) }
    }

    /// Removes the value; fine if there is none.
    public func remove(_ key: AnyStorageKey) async throws { _ = try await removeIfStored(key) }

    /// Removes the value, and tells whether there was one.
    public func removeIfStored(_ key: AnyStorageKey) async throws -> Bool {
        let resolved = try await resolve(KeyReference(key))
        guard try await mayBringData(to: key) else { return try await remove(resolved) }
        let isStored = try await exists(resolved)
        return try await applySuperseding(nil, resolved, key) ? isStored : try await remove(resolved)
    }

    /// Whether a value is stored, even an empty one.
    public func exists(_ key: AnyStorageKey) async throws -> Bool { try await exists(resolve(KeyReference(key))) }

    /// The stored value's attributes; `nil` if there is no value, or empty if nothing is known. Those of a sealed value
    /// are authentic but for size and time, which are the store's.
    ///
    /// - Throws: `cannotOpen` if a sealed value's envelope or its first chunk was changed.
    public func attributes(of key: AnyStorageKey) async throws -> ValueAttributes? {
        try await attributes(of: resolve(KeyReference(key)))
    }

    /// The same for lists: of a value whose key takes a slow derivation only size and time, as the store has them.
    public func attributesAtOnce(of key: AnyStorageKey) async throws -> ValueAttributes? {
        try await attributes(of: resolve(KeyReference(key)), deriving: false)
    }

    func attributes(
        of resolved: ResolvedKey, deriving: Bool = true
    ) async throws(StorageError) -> ValueAttributes? {
        if let refusal = resolved.refusal { throw refusal }
        guard resolved.layers.isEmpty else {
            let value = try await sealedValue(of: resolved)
            return try await resolved.open.wait("reading attributes of '\(resolved.address)'") {
                () throws(StorageError) in try value.attributes(deriving: deriving)
            }
        }
        guard resolved.attributes != nil else { return try await exists(resolved) ? ValueAttributes() : nil }
        return try await resolved.open.write("reading attributes of '\(resolved.address)'") {
            (store) throws(StorageError) in try store.attributes(of: resolved.handle)
        }
    }
}
