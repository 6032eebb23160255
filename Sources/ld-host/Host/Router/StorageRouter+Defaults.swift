public import LocalDataAPI
internal import Synchronization

extension StorageRouter {
    /// Registers what ``get(_:)`` returns for a key that nothing is stored for, as long as the program runs: it is
    /// never written, and `exists` goes on telling what is stored. A later registration takes the place of an earlier
    /// one; the key's address counts, not the key itself.
    ///
    /// - Throws: What keeps the key from being used.
    public func registerDefault<Value>(_ value: Value, for key: StorageKey<Value>) async throws {
        let resolved = try await resolve(key)
        let target = DefaultValues.Target(resolved.address)
        state.withLock { $0.defaults }.set(value, for: target)
    }

    func registeredDefault<Value>(of key: StorageKey<Value>, _ resolved: ResolvedKey) -> Value? {
        state.withLock { $0.defaults }.value(for: DefaultValues.Target(resolved.address)) as? Value
    }
}
