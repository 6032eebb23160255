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

/// Values to return for keys without a stored value.
final class DefaultValues: Sendable {
    struct Target: Hashable {
        let address: StorageAddress
        let directory: String?

        init(_ address: StorageAddress) {
            self.address = address
            directory = address.place.directory
        }
    }

    private let values = Mutex<[Target: any Sendable]>([:])

    func set(_ value: some Sendable, for target: Target) { values.withLock { $0[target] = value } }

    func value(for target: Target) -> (any Sendable)? { values.withLock { $0[target] } }
}
