public import FoundationEssentials
internal import HostGround
internal import HostMigration
internal import HostPlugins
internal import HostStores
public import LocalDataAPI
internal import Synchronization

/// Conditional changes with keys whose type is not known here.
extension StorageRouter {
    /// The serialized bytes with their revision and expiry; `nil` if there are none. Older data is migrated first.
    ///
    /// - Throws: `unsupported` if the store has no conditional changes.
    public func revisionedData(for key: AnyStorageKey) async throws -> Revisioned<Data>? {
        let resolved = try await settled(key)
        if let found = try await resolved.revisioned() { return Revisioned(found.data, found) }
        guard try await hasMoved(resolved, { try await settled(key) }) else { return nil }
        return try await revisionedData(for: key)
    }

    /// Stores serialized bytes if the key has no value.
    ///
    /// - Parameter expires: When the value expires; by default after the key's `lifetime`, if it has one.
    /// - Returns: Their revision.
    /// - Throws: `conflict` if there is a value, and it stays; `unsupported`.
    @discardableResult
    public func createData(
        _ data: Data, for key: AnyStorageKey, expires: Date? = nil
    ) async throws -> StorageRevision {
        try await following { try await set(data, settled(key), key.descriptor, expires, if: .absent) }
    }

    /// Replaces serialized bytes that still have a revision.
    ///
    /// - Parameter expires: When the value expires; by default after the key's `lifetime`, if it has one.
    /// - Returns: The new revision.
    /// - Throws: `conflict` if the value was changed or removed, and then nothing has changed; `unsupported`.
    @discardableResult
    public func setData(
        _ data: Data, for key: AnyStorageKey, ifRevision revision: StorageRevision, expires: Date? = nil
    ) async throws -> StorageRevision {
        try await following {
            try await set(data, settled(key), key.descriptor, expires, if: .revision(revision.number))
        }
    }

    /// Stores serialized bytes that expire, replacing the old ones.
    ///
    /// - Throws: `unsupported` if the store's values cannot expire, and for infinity or NaN, which are no times.
    public func setData(_ data: Data, for key: AnyStorageKey, expires: Date) async throws {
        try await following { try await set(data, settled(key), key.descriptor, expires) }
    }

    /// Removes a value that still has a revision.
    ///
    /// - Throws: `conflict` if the value was changed or removed, and then nothing has changed; `unsupported`.
    public func remove(_ key: AnyStorageKey, ifRevision revision: StorageRevision) async throws {
        try await following { try await remove(settled(key), key.descriptor, revision) }
    }

    /// The key's resolution, once no older data can come to it any more.
    func settled(_ key: AnyStorageKey) async throws -> ResolvedKey {
        let resolved = try await resolveForReading(key)
        guard !resolved.isSettled.load(ordering: .relaxed) else { return resolved }
        try await keepUnread(key, resolved)
        if try await !resolved.exists() {
            if try await hasMoved(resolved, { try await resolveForReading(key) }) { return try await settled(key) }
            let engine = try await engine()
            if try await engine.mayBringData(to: key) { try await engine.bringData(to: key) }
        }
        resolved.isSettled.store(true, ordering: .relaxed)
        return resolved
    }
}

/// The same for a key of any kind, once it is settled.
extension StorageRouter {
    func set(
        _ data: Data, _ resolved: ResolvedKey, _ descriptor: @autoclosure () -> StorageKeyDescriptor, _ expires: Date?,
        if condition: WriteCondition
    ) async throws -> StorageRevision {
        let attributes = try expires.map { resolved.attributes(expires: try $0.expiry()) } ?? resolved.attributes
        guard let revision = try await resolved.set(data, attributes: attributes, if: condition) else {
            throw Self.conflict(resolved, condition)
        }
        await note(resolved, descriptor())
        return StorageRevision(revision)
    }

    func set(
        _ data: Data, _ resolved: ResolvedKey, _ descriptor: @autoclosure () -> StorageKeyDescriptor, _ expires: Date
    ) async throws {
        try await resolved.set(data, attributes: resolved.attributes(expires: expires.expiry()))
        await note(resolved, descriptor())
    }

    func remove(
        _ resolved: ResolvedKey, _ descriptor: @autoclosure () -> StorageKeyDescriptor, _ revision: StorageRevision
    ) async throws {
        guard try await resolved.remove(ifRevision: revision.number) else {
            throw Self.conflict(resolved, .revision(revision.number))
        }
        await noteRemoved(resolved, descriptor())
    }

    private static func conflict(_ resolved: ResolvedKey, _ condition: WriteCondition) -> StorageError {
        let (address, store) = (resolved.address, resolved.open.name)
        guard condition == .absent else {
            return StorageError(
                .conflict, "'\(address)' in '\(store)' was changed or removed meanwhile, so it stays as it is",
                hint: "read it again")
        }
        return StorageError(.conflict, "'\(address)' has a value in '\(store)' already, and it stays")
    }
}
