public import LocalDataAPI

/// Values in pieces. The functions run on the calling thread's I/O thread throughout, so `body` and `fill` may wait.
extension StorageRouter {
    /// Hands out a value in pieces, in order, until `body` returns `false`; `false` if there is no value.
    public func readData(
        for key: AnyStorageKey, _ body: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) async throws -> Bool {
        let resolved = try await resolve(KeyReference(key))
        if let refusal = resolved.refusal { throw refusal }
        return try await resolved.open.write("reading '\(resolved.address)'") { (store) throws(StorageError) in
            try store.read(resolved.handle, body)
        }
    }

    /// Stores a value that `fill` gives: it fills the buffer, says how many bytes, and 0 at the end. If it throws, the
    /// old value stands.
    public func writeData(
        for key: AnyStorageKey, from fill: @escaping @Sendable (UnsafeMutableRawBufferPointer) throws -> Int
    ) async throws {
        let resolved = try await resolve(KeyReference(key))
        if let refusal = resolved.refusal { throw refusal }
        try await resolved.open.write("writing '\(resolved.address)'") { (store) throws(StorageError) in
            do {
                try store.write(resolved.handle, attributes: resolved.attributes, from: fill)
            } catch {
                throw (error as? StorageError) ?? StorageError(.cancelled, "the value could not be read: \(error)")
            }
        }
    }
}
