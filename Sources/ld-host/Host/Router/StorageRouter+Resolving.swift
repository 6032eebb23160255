internal import LocalDataAPI

extension StorageRouter {
    /// The stores of the current snapshot.
    func access() async throws(StorageError) -> StoreAccess { StoreAccess(snapshot: try await snapshot()) }

    /// The key's open store and handle, resolved once per snapshot.
    ///
    /// - Throws: What ``StoreAccess/resolve(_:)`` throws.
    func resolve(_ key: KeyReference) async throws(StorageError) -> ResolvedKey {
        if let resolved = known(key.slot) { return resolved.takeUnretainedValue() }
        return try await access().resolve(key)
    }

    /// Resolves a typed key; a known one costs no reference to its parts.
    @inline(__always)
    func resolve<Value>(_ key: StorageKey<Value>) async throws(StorageError) -> ResolvedKey {
        if let resolved = known(key.slot) { return resolved.takeUnretainedValue() }
        return try await resolve(KeyReference(key))
    }
}
