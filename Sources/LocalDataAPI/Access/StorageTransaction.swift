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
        let data = try key.serializer.encode(value)
        guard let chain = key.chain else { return try await setData(data, for: AnyStorageKey(key)) }
        try await setData(data, versionTag: chain.versionTag, for: AnyStorageKey(key))
    }

    package func remove<Value>(_ key: StorageKey<Value>) async throws { try await remove(AnyStorageKey(key)) }

    package func exists<Value>(_ key: StorageKey<Value>) async throws -> Bool { try await exists(AnyStorageKey(key)) }
}
