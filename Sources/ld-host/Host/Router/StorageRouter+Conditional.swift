public import FoundationEssentials
internal import HostGround
internal import HostMigration
internal import HostPlugins
internal import HostStores
public import LocalDataAPI
internal import Synchronization

/// Changes that depend on what is stored, and values that expire.
///
/// A conditional change is one step for all users of the store, including other processes, and other machines if they
/// share it. `file`, `sqlite`, `memory` and `postgresql` offer it; with any other store these calls throw
/// `unsupported`.
extension StorageRouter {
    /// The stored value and its revision, or what the key's migration brings; `nil` if there is neither.
    ///
    /// - Throws: What ``get(_:)`` throws, except `notFound`; `unsupported`.
    public func revisioned<Value>(_ key: StorageKey<Value>) async throws -> Revisioned<Value>? {
        let resolved = try await settled(key)
        if let stored = try await resolved.revisioned() {
            return Revisioned(try await value(of: key, in: stored), stored)
        }
        guard try await hasMoved(resolved, { try await settled(key) }) else { return nil }
        return try await revisioned(key)
    }

    /// The revision of the stored value; `nil` if it is absent.
    public func revision<Value>(of key: StorageKey<Value>) async throws -> StorageRevision? {
        let resolved = try await settled(key)
        if let stored = try await resolved.revisioned() { return StorageRevision(stored.revision) }
        return try await hasMoved(resolved, { try await settled(key) }) ? try await self.revision(of: key) : nil
    }

    /// Stores a value if the key has none.
    ///
    /// - Parameter expires: When the value expires; by default after the key's `lifetime`, if it has one.
    /// - Returns: Its revision.
    /// - Throws: `conflict` if there is a value, and it stays; what ``set(_:for:)`` throws; `unsupported`.
    @discardableResult
    public func create<Value>(
        _ value: Value, for key: StorageKey<Value>, expires: Date? = nil
    ) async throws -> StorageRevision {
        try await following { try await set(key.encode(value), settled(key), .from(key), expires, if: .absent) }
    }

    /// Replaces a value if it still has a revision.
    ///
    /// - Parameter expires: When the value expires; by default after the key's `lifetime`, if it has one.
    /// - Returns: Its new revision.
    /// - Throws: `conflict` if the value was changed or removed, and then nothing has changed; what ``set(_:for:)``
    ///   throws; `unsupported`.
    @discardableResult
    public func set<Value>(
        _ value: Value, for key: StorageKey<Value>, ifRevision revision: StorageRevision, expires: Date? = nil
    ) async throws -> StorageRevision {
        try await following {
            try await set(key.encode(value), settled(key), .from(key), expires, if: .revision(revision.number))
        }
    }

    /// Removes a value if it still has a revision.
    ///
    /// - Throws: `conflict` if the value was changed or removed, and then nothing has changed; `unsupported`.
    public func remove<Value>(_ key: StorageKey<Value>, ifRevision revision: StorageRevision) async throws {
        try await following { try await remove(settled(key), .from(key), revision) }
    }

    /// Stores a value that expires: from then on it is absent to every reader.
    ///
    /// The clock of the store decides, which for a store on another machine is that machine's. A reader that finds the
    /// value expired removes it, so that it does not come back if a clock is set back.
    ///
    /// - Throws: What ``set(_:for:)`` throws; `unsupported` if the store's values cannot expire, and for infinity or
    ///   NaN, which are no times.
    public func set<Value>(_ value: Value, for key: StorageKey<Value>, expires: Date) async throws {
        try await following { try await set(key.encode(value), settled(key), .from(key), expires) }
    }

    /// When the stored value expires; `nil` if never, or if there is no value.
    public func expiry<Value>(of key: StorageKey<Value>) async throws -> Date? {
        let expires = try await resolveForReading(key).storedAttributes()?.expires
        return expires.map { Date(nanoseconds: $0) }
    }

    /// Decodes what a settled key's store has returned.
    func value<Value>(of key: StorageKey<Value>, in stored: RevisionedData) async throws -> Value {
        if let chain = key.chain {
            return try await chain.decode(stored.data, versionTag: stored.attributes.versionTag).value
        }
        do { return try key.serializer.decode(stored.data) } catch {
            return try await textValue(in: stored.data, of: key, error)
        }
    }

    /// The key's resolution, once no older data can come to it any more and its value is of the current version.
    func settled<Value>(_ key: StorageKey<Value>) async throws -> ResolvedKey {
        let resolved = try await resolveForReading(key)
        guard !resolved.isSettled.load(ordering: .relaxed) else { return resolved }
        if let chain = key.chain {
            _ = try await chained(key, chain)
        } else {
            // A value that is there is read as it is, as by 'get', whatever its migration's source is like.
            if try await !resolved.exists() {
                if try await hasMoved(resolved, { try await resolveForReading(key) }) { return try await settled(key) }
                let engine = try await engine()
                if try await engine.mayBringData(to: key) { try await engine.bringData(to: AnyStorageKey(key)) }
            }
            await noteFound(resolved, .from(key))
        }
        resolved.isSettled.store(true, ordering: .relaxed)
        return resolved
    }
}
