public import LocalDataAPI
internal import Synchronization

extension StorageRouter {
    /// Registers the value that ``get(_:)`` returns for a key without a stored value, as long as the program runs. It
    /// is never written, and `exists` still reports only stored values. A later registration for the same address
    /// replaces it, even with another key.
    ///
    /// - Throws: Why the key cannot be used.
    public func registerDefault<Value>(_ value: Value, for key: StorageKey<Value>) async throws {
        let resolved = try await resolve(key)
        let target = DefaultValues.Target(resolved.address)
        state.withLock { $0.defaults }.set(value, for: target)
    }

    func registeredDefault<Value>(of key: StorageKey<Value>, _ resolved: ResolvedKey) -> Value? {
        state.withLock { $0.defaults }.value(for: DefaultValues.Target(resolved.address)) as? Value
    }
}
