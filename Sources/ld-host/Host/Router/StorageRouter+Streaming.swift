public import LocalDataAPI

/// Values in pieces. The functions run on the calling thread's I/O thread throughout, so `body` and `fill` may wait.
extension StorageRouter {
    /// Hands out a value in pieces, in order, until `body` returns `false`; `false` if there is no value. Older data is
    /// brought first, as by `get`.
    ///
    /// - Parameter verification: Of a sealed value, how much is verified before the first byte is handed out.
    /// - Throws: `cannotOpen` if a sealed value was changed; with ``StreamVerification/whole`` nothing was handed out
    ///   then.
    public func readData(
        for key: AnyStorageKey, verifying verification: StreamVerification = .whole,
        _ body: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) async throws -> Bool {
        let resolved = try await resolve(KeyReference(key))
        if try await read(resolved, verification, body) { return true }
        let engine = try await engine()
        guard try await engine.mayBringData(to: key) else { return false }
        try await engine.bringData(to: key)
        return try await read(resolved, verification, body)
    }

    private func read(
        _ resolved: ResolvedKey, _ verification: StreamVerification,
        _ body: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) async throws -> Bool {
        if let refusal = resolved.refusal { throw refusal }
        guard resolved.layers.isEmpty else {
            let value = try await resolved.sealedValue()
            return try await resolved.open.wait("reading '\(resolved.address)'") { () throws(StorageError) in
                try value.read(verification, body)
            }
        }
        do throws(StorageError) {
            return try await resolved.open.write("reading '\(resolved.address)'") { (store) throws(StorageError) in
                try store.read(resolved.handle, body)
            }
        } catch { throw resolved.naming(error) }
    }

    /// Stores a value that `fill` gives: it fills the buffer, says how many bytes, and 0 at the end. If it throws, the
    /// old value stands.
    public func writeData(
        for key: AnyStorageKey, from fill: @escaping @Sendable (UnsafeMutableRawBufferPointer) throws -> Int
    ) async throws {
        let resolved = try await resolve(KeyReference(key))
        await note(resolved, key.descriptor)
        try await write(resolved, fill)
        let engine = try await engine()
        if try await engine.mayBringData(to: key) {
            _ = try await engine.applySuperseding([(key, resolved)], with: [])
        }
    }

    private func write(
        _ resolved: ResolvedKey, _ fill: @escaping @Sendable (UnsafeMutableRawBufferPointer) throws -> Int
    ) async throws {
        if let refusal = resolved.refusal { throw refusal }
        @Sendable func write(_ body: () throws -> Void) throws(StorageError) {
            do { try body() } catch {
                throw (error as? StorageError) ?? StorageError(.cancelled, "the value could not be read: \(error)")
            }
        }
        guard resolved.layers.isEmpty else {
            let value = try await resolved.sealedValue()
            return try await resolved.open.wait("writing '\(resolved.address)'") { () throws(StorageError) in
                try write { try value.write(attributes: resolved.attributes, from: fill) }
            }
        }
        try await resolved.open.write("writing '\(resolved.address)'") { (store) throws(StorageError) in
            try write { try store.write(resolved.handle, attributes: resolved.attributes, from: fill) }
        }
    }

    /// The bytes that the store keeps for a key, sealed if they are, in pieces; `false` if there are none.
    public func readStoredData(
        for key: AnyStorageKey, _ body: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) async throws -> Bool {
        let resolved = try await resolve(KeyReference(key))
        return try await resolved.open.write("reading '\(resolved.address)'") { (store) throws(StorageError) in
            try store.read(resolved.handle, body)
        }
    }
}
