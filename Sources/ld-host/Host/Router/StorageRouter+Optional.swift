public import LocalDataAPI

extension StorageRouter {
    /// The stored value, or else what the key's migration brings, or else the registered default; `nil` if all of these
    /// are absent. See also `get(_:default:)`, which returns a default of the caller's then.
    ///
    /// - Throws: What ``get(_:)`` throws, except `notFound`: a value that cannot be read is not `nil`.
    public func value<Value>(of key: StorageKey<Value>) async throws -> Value? {
        if !key.isChained, let data = try readAtOnce(key.slot) {
            do { return try key.serializer.decode(data) } catch { return try await textValue(in: data, of: key, error) }
        }
        if let value = try await stored(key) { return value }
        return registeredDefault(of: key, try await resolve(key))
    }
}
