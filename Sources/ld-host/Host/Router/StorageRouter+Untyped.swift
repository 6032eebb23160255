public import FoundationEssentials
internal import HostGround
internal import HostMigration
package import HostStores
public import LocalDataAPI

/// Access with keys whose type is not known here: for tools, catalogs and migrations.
extension StorageRouter {
    /// The key at an address `domain[:scope]/name`, as a catalog describes it. The values of any other are raw bytes,
    /// and it has the policy that its stored value is sealed by, or else its domain's default policy.
    ///
    /// A value that is sealed in another way can be neither read nor replaced through the key, only removed: see
    /// `checkUsable(_:)`.
    ///
    /// - Throws: `invalidAddress` with what is wrong with the text.
    public func key(at address: String) async throws -> AnyStorageKey {
        try await key(as: try StorageKeyDescriptor(address: address), isLookedAt: true)
    }

    /// The same for a caller that neither reads nor replaces the value: the stored one is not looked at, for which a
    /// keychain may ask a person.
    package func unseenKey(at address: String) async throws -> AnyStorageKey {
        try await key(as: try StorageKeyDescriptor(address: address), isLookedAt: false)
    }

    /// The key with this name in a domain.
    package func key(named name: String, in domain: StorageDomain) async throws -> AnyStorageKey {
        try await key(as: StorageKeyDescriptor(name: name, domain: domain), isLookedAt: true)
    }

    private func key(as descriptor: StorageKeyDescriptor, isLookedAt: Bool) async throws -> AnyStorageKey {
        let snapshot = try await snapshot()
        let place = try snapshot.settings.place(of: descriptor.domain)
        let full = StorageAddress(place, name: descriptor.name)
        if let known = snapshot.catalog?.entries[full] ?? snapshot.described.entries[full] { return known }
        let key = AnyStorageKey(descriptor, undeclared: UndeclaredKey())
        // What cannot be resolved or read fails at its use, with the reason.
        guard isLookedAt, let resolved = try? await resolve(KeyReference(key)) else { return key }
        return (try? await resolved.asStored(descriptor, snapshot)) ?? key
    }

    /// Throws if a key's values cannot be read or written here, before anyone is asked for a value.
    package func checkUsable(_ key: AnyStorageKey) async throws {
        if let refusal = try await resolve(KeyReference(key)).refusal { throw refusal }
    }

    /// The folder that a file of somebody else would write a key's value to although neither the host nor this user has
    /// chosen it; `nil` if one of them has.
    ///
    /// - Parameter named: The folders that the user names now.
    package func unnamedFolder(of key: AnyStorageKey, besides named: NamedFolders) async throws -> String? {
        let (snapshot, resolved) = (try await snapshot(), try await resolve(KeyReference(key)))
        guard resolved.address.place.chosenFolder != nil else { return nil }
        return try await onIOThread { () throws(StorageError) in
            try snapshot.unnamedFolder(of: resolved.address, in: resolved.open, besides: named)
        }
    }

    /// The folder outside of the host's own that a domain's values belong to; `nil` for the host's own.
    package func chosenFolder(of domain: StorageDomain) async throws -> String? {
        try await snapshot().settings.place(of: domain).chosenFolder
    }

    /// The serialized bytes, or `nil` if there are none. Older data is migrated first, as by `get`.
    public func data(for key: AnyStorageKey) async throws -> Data? {
        try await following { try await dataOnce(for: key) }
    }

    private func dataOnce(for key: AnyStorageKey) async throws -> Data? {
        let resolved = try await resolveForReading(key)
        if let data = try await resolved.data() {
            await noteFound(resolved, key.descriptor)
            return data
        }
        if try await hasMoved(resolved, { try await resolveForReading(key) }) { return try await dataOnce(for: key) }
        guard try await engine().mayBringData(to: key) else { return nil }
        try await engine().bringData(to: key)
        let now = try await resolve(KeyReference(key))
        guard let data = try await now.data() else { return nil }
        await noteFound(now, key.descriptor)
        return data
    }

    /// Stores serialized bytes, replacing the old ones.
    public func setData(_ data: Data, for key: AnyStorageKey) async throws {
        try await following { try await set(data, for: key, try await resolve(KeyReference(key))) }
    }

    /// The same, with the version tag of the type that the bytes encode; `nil` for none.
    public func setData(_ data: Data, versionTag: String?, for key: AnyStorageKey) async throws {
        try await following {
            try await set(data, for: key, try await resolve(KeyReference(key)).writing(versionTag: versionTag))
        }
    }

    private func set(_ data: Data, for key: AnyStorageKey, _ resolved: ResolvedKey) async throws {
        var isSet = false
        try await requireOwner(resolved, key.descriptor)
        try await keepUnread(key, resolved)
        let engine = try await engine()
        if try await engine.mayBringData(to: key) { isSet = try await engine.applySuperseding(data, resolved, key) }
        if !isSet { try await resolved.set(data) }
        await note(resolved, key.descriptor)
    }

    /// Removes the value; removing an absent value is fine.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func remove(_ key: AnyStorageKey) async throws -> Bool {
        try await following { try await removeOnce(key) }
    }

    private func removeOnce(_ key: AnyStorageKey) async throws -> Bool {
        let resolved = try await resolve(KeyReference(key))
        try await requireOwner(resolved, key.descriptor)
        try await endWaiting(key, resolved)
        let isRemoved =
            try await engine().mayBringData(to: key)
            ? try await removeSuperseding(resolved, key) : try await resolved.remove()
        if !isRemoved, try await hasMoved(resolved, { try await resolve(KeyReference(key)) }) {
            return try await removeOnce(key)
        }
        return isRemoved
    }

    /// The protocol's form. It is the same call: only its type has no result.
    @_disfavoredOverload
    public func remove(_ key: AnyStorageKey) async throws { _ = try await remove(key) as Bool }

    /// Removes a value and older data that it supersedes; returns whether there was a value.
    func removeSuperseding(_ resolved: ResolvedKey, _ key: AnyStorageKey) async throws -> Bool {
        let isStored = try await resolved.exists()
        let isGone = try await engine().removeElsewhere(key, resolved)
        // A caller that removes a value at a former place means that value.
        if !isStored { try await engine().noteLeft(key) }
        let isRemoved = try await engine().applySuperseding(nil, resolved, key) ? isStored : try await resolved.remove()
        await noteRemoved(resolved, key.descriptor)
        return isRemoved || isGone
    }

    /// Whether a value is stored, even an empty one: at the key's place, or at one where the key was before.
    public func exists(_ key: AnyStorageKey) async throws -> Bool {
        let resolved = try await resolveForReading(key)
        if try await resolved.exists() { return true }
        if try await hasMoved(resolved, { try await resolveForReading(key) }) { return try await exists(key) }
        return try await engine().isElsewhere(key, resolved)
    }

    /// The stored value's attributes; `nil` if there is no value, empty if nothing is known. Those of a sealed value
    /// are authentic except for size and time, which come from the store.
    ///
    /// - Throws: `cannotOpen` if a sealed value's envelope or its first chunk was changed.
    public func attributes(of key: AnyStorageKey) async throws -> ValueAttributes? {
        let resolved = try await resolve(KeyReference(key))
        if let found = try await resolved.storedAttributes() { return found }
        guard try await hasMoved(resolved, { try await resolve(KeyReference(key)) }) else { return nil }
        return try await attributes(of: key)
    }

    /// The attributes for lists: if a value's key needs a slow derivation, only size and time, as the store reports
    /// them.
    public func attributesAtOnce(of key: AnyStorageKey) async throws -> ValueAttributes? {
        try await resolve(KeyReference(key)).storedAttributes(deriving: false)
    }
}
