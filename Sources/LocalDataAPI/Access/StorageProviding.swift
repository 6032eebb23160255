public import FoundationEssentials

/// Typed access to stored values: the router, or the transaction that a migration runs in.
///
/// Every method throws `StorageError`; see its codes for what can go wrong.
public protocol StorageProviding: Sendable {
    /// The stored value. Throws `notFound` if there is none.
    func get<Value>(_ key: StorageKey<Value>) async throws -> Value
    /// Stores a value in place of what is there.
    func set<Value>(_ value: Value, for key: StorageKey<Value>) async throws
    /// Removes the value; fine if there is none.
    func remove<Value>(_ key: StorageKey<Value>) async throws
    /// Whether a value is stored, even an empty one. Registered defaults do not count.
    func exists<Value>(_ key: StorageKey<Value>) async throws -> Bool

    /// The serialized bytes of a key whose type is not known here, or `nil` if there are none.
    func data(for key: AnyStorageKey) async throws -> Data?
    /// Stores serialized bytes under a key whose type is not known here.
    func setData(_ data: Data, for key: AnyStorageKey) async throws
    /// As `remove`, for a key whose type is not known here.
    func remove(_ key: AnyStorageKey) async throws
    /// As `exists`, for a key whose type is not known here.
    func exists(_ key: AnyStorageKey) async throws -> Bool
}
