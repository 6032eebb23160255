#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Typed access to stored values: the router, or the transaction that a migration runs in.
///
/// Every method throws `StorageError`; its codes list what can go wrong.
public protocol StorageProviding: Sendable {
    /// The stored value. Throws `notFound` if the key has no value.
    func get<Value>(_ key: StorageKey<Value>) async throws -> Value
    /// The stored value; `nil` if the key has no value. Throws what `get` throws, except `notFound`.
    func value<Value>(of key: StorageKey<Value>) async throws -> Value?
    /// Stores a value, replacing the old one.
    func set<Value>(_ value: Value, for key: StorageKey<Value>) async throws
    /// Removes the value; removing an absent value is fine.
    func remove<Value>(_ key: StorageKey<Value>) async throws
    /// Whether a value is stored, even an empty one. Registered defaults do not count.
    func exists<Value>(_ key: StorageKey<Value>) async throws -> Bool

    /// The serialized bytes of a key whose type the caller does not know; `nil` if the key has no value.
    func data(for key: AnyStorageKey) async throws -> Data?
    /// Stores serialized bytes under a key whose type the caller does not know.
    func setData(_ data: Data, for key: AnyStorageKey) async throws
    /// Removes the value of a key whose type the caller does not know.
    func remove(_ key: AnyStorageKey) async throws
    /// Whether a value is stored under a key whose type the caller does not know.
    func exists(_ key: AnyStorageKey) async throws -> Bool

    /// The names of the values in a domain that start with `prefix`, in the order of their UTF-8 bytes.
    func names(in domain: StorageDomain, prefix: String) async throws -> [String]
    /// What is recorded with a value; `nil` if there is no value, empty if nothing is known.
    func attributes(of key: AnyStorageKey) async throws -> ValueAttributes?
    /// Stores serialized bytes with the version tag of the type that they encode; `nil` for none.
    func setData(_ data: Data, versionTag: String?, for key: AnyStorageKey) async throws
}

extension StorageProviding {
    /// What `get` returns, or `nil` where it throws `notFound`.
    public func value<Value>(of key: StorageKey<Value>) async throws -> Value? {
        do { return try await get(key) } catch StorageError.notFound { return nil }
    }

    /// The stored value, or another one if the key has no value. Any other failure is thrown, so that an app never
    /// takes a default for a value that it could not read.
    ///
    /// ```swift
    /// let theme = try await router.get(.theme, default: "light")
    /// ```
    public func get<Value>(_ key: StorageKey<Value>, default value: @autoclosure () -> Value) async throws -> Value {
        try await self.value(of: key) ?? value()
    }
}

/// A transaction that reads and writes bytes; typed access follows from that.
package protocol StorageTransaction: StorageProviding {}

extension StorageTransaction {
    package func get<Value>(_ key: StorageKey<Value>) async throws -> Value {
        let any = AnyStorageKey(key)
        guard let data = try await data(for: any) else {
            throw StorageError(.notFound, "'\(any.address)' is not stored")
        }
        guard let chain = key.chain else { return try any.value(Value.self, from: data) }
        return try await chain.decode(data, versionTag: attributes(of: any)?.versionTag).value
    }

    package func set<Value>(_ value: Value, for key: StorageKey<Value>) async throws {
        let data = try key.encode(value)
        guard let chain = key.chain else { return try await setData(data, for: AnyStorageKey(key)) }
        try await setData(data, versionTag: chain.versionTag, for: AnyStorageKey(key))
    }

    package func remove<Value>(_ key: StorageKey<Value>) async throws { try await remove(AnyStorageKey(key)) }

    package func exists<Value>(_ key: StorageKey<Value>) async throws -> Bool { try await exists(AnyStorageKey(key)) }
}
