internal import HostGround
public import HostStores
public import LocalDataAPI

/// Values that expire after a while. The clock of this machine says when that begins;
/// ``StorageRouter/set(_:for:expires:)`` explains whose clock says when it is over.
extension StorageRouter {
    /// Stores a value that expires after a lifetime.
    ///
    /// - Throws: What ``set(_:for:expires:)`` throws; `unsupported` for a lifetime that is not positive.
    public func set<Value>(_ value: Value, for key: StorageKey<Value>, lifetime: Duration) async throws {
        try await set(value, for: key, expires: .init(after: lifetime))
    }

    /// Stores a value that expires after a lifetime, if the key has none.
    ///
    /// - Returns: Its revision.
    /// - Throws: What ``create(_:for:expires:)`` throws; `unsupported` for a lifetime that is not positive.
    @discardableResult
    public func create<Value>(
        _ value: Value, for key: StorageKey<Value>, lifetime: Duration
    ) async throws -> StorageRevision {
        try await create(value, for: key, expires: .init(after: lifetime))
    }

    /// Replaces a value by one that expires after a lifetime, if it still has a revision.
    ///
    /// - Returns: Its new revision.
    /// - Throws: What ``set(_:for:ifRevision:expires:)`` throws; `unsupported` for a lifetime that is not positive.
    @discardableResult
    public func set<Value>(
        _ value: Value, for key: StorageKey<Value>, ifRevision revision: StorageRevision, lifetime: Duration
    ) async throws -> StorageRevision {
        try await set(value, for: key, ifRevision: revision, expires: .init(after: lifetime))
    }
}

extension StorageBatch {
    /// Stores a value that expires after a lifetime, replacing the old one.
    ///
    /// - Throws: `serializationFailed`; `unsupported` for a lifetime that is not positive.
    public mutating func set<Value>(_ value: Value, for key: StorageKey<Value>, lifetime: Duration) throws {
        try set(value, for: key, expires: .init(after: lifetime))
    }
}
