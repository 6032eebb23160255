internal import FoundationEssentials
public import LocalDataAPI

extension StorageRouter {
    /// The stored value.
    ///
    /// - Throws: `notFound` if there is none; `deserializationFailed` if what is there is no such value, and then it
    ///   stays; `securityApplicationFailed` if the key's policy cannot be applied here.
    public func get<Value>(_ key: StorageKey<Value>) async throws -> Value {
        if let resolved = known(key.slot), resolved.readsInline {
            guard let data = try resolved.store.get(resolved.handle) else { throw missing(key.hasMigration, resolved) }
            return try decode(data, as: key.serializer, resolved)
        }
        let resolved = try await resolve(KeyReference(key))
        guard let data = try await data(of: resolved) else { throw missing(key.hasMigration, resolved) }
        return try decode(data, as: key.serializer, resolved)
    }

    /// Stores a value in place of what is there.
    ///
    /// - Throws: `serializationFailed`, `securityApplicationFailed`, `valueTooLarge`, `noSpace` and whatever the store
    ///   reports; then the old value stands, except with `durabilityUnknown` (the new one is in place) and `timedOut`
    ///   (either).
    public func set<Value>(_ value: Value, for key: StorageKey<Value>) async throws {
        let resolved = try await resolve(KeyReference(key))
        try await store(try key.serializer.encode(value), resolved)
    }

    /// Removes the value; fine if there is none.
    public func remove<Value>(_ key: StorageKey<Value>) async throws {
        _ = try await remove(resolve(KeyReference(key)))
    }

    /// Whether a value is stored, even an empty one.
    public func exists<Value>(_ key: StorageKey<Value>) async throws -> Bool {
        try await exists(resolve(KeyReference(key)))
    }

    private func decode<Value>(
        _ data: Data, as serializer: Serializer<Value>, _ resolved: ResolvedKey
    ) throws(StorageError) -> Value {
        do { return try serializer.decode(data) } catch {
            throw StorageError(error.code, "'\(resolved.address)': \(error.message)", hint: error.hint)
        }
    }

    private func missing(_ hasMigration: Bool, _ resolved: ResolvedKey) -> StorageError {
        if hasMigration {
            return StorageError(
                .unsupported,
                "'\(resolved.address)' is not stored, and its migration cannot run: this version has no migration engine",
                hint: "store the value, or remove the migration from the key")
        }
        return StorageError(.notFound, "'\(resolved.address)' is not stored in '\(resolved.open.name)'")
    }
}

extension StorageRouter {
    func data(of resolved: ResolvedKey) async throws(StorageError) -> Data? {
        if let refusal = resolved.refusal { throw refusal }
        return try await resolved.open.read("reading '\(resolved.address)'") { (store) throws(StorageError) in
            try store.get(resolved.handle)
        }
    }

    func store(_ data: Data, _ resolved: ResolvedKey) async throws(StorageError) {
        if let refusal = resolved.refusal { throw refusal }
        try await resolved.open.write("writing '\(resolved.address)'") { (store) throws(StorageError) in
            try store.set(resolved.handle, to: data, attributes: resolved.attributes)
        }
    }

    func remove(_ resolved: ResolvedKey) async throws(StorageError) -> Bool {
        try await resolved.open.write("removing '\(resolved.address)'") { (store) throws(StorageError) in
            try store.remove(resolved.handle)
        }
    }

    func exists(_ resolved: ResolvedKey) async throws(StorageError) -> Bool {
        try await resolved.open.read("looking for '\(resolved.address)'") { (store) throws(StorageError) in
            try store.exists(resolved.handle)
        }
    }
}
