internal import FoundationEssentials
public import LocalDataAPI
internal import Synchronization

extension StorageRouter {
    /// The stored value, or else what the key's migration brings, or else the registered default: see
    /// ``registerDefault(_:for:)``.
    ///
    /// A value that a person or another program stored as text (`text/plain`) is read by a key with the serializer
    /// `json` too, if the text is a value of its type.
    ///
    /// - Throws: `notFound` if there is neither; `deserializationFailed` if what is there is no such value, and then it
    ///   stays; `securityApplicationFailed` if the key's policy cannot be applied here; `MigrationError` if there may
    ///   be older data, and it could not be brought here.
    public func get<Value>(_ key: StorageKey<Value>) async throws -> Value {
        if let data = try readAtOnce(key.slot) {
            do { return try key.serializer.decode(data) } catch { return try await textValue(in: data, of: key, error) }
        }
        let resolved = try await resolve(key)
        if let data = try await broughtData(of: resolved, key) {
            do { return try key.serializer.decode(data) } catch { return try await textValue(in: data, of: key, error) }
        }
        if let value = registeredDefault(of: key, resolved) { return value }
        throw StorageError(.notFound, "'\(resolved.address)' is not stored in '\(resolved.open.name)'")
    }

    /// Stores a value in place of what is there. Older data that has not been brought to the key is not brought any
    /// more, whatever becomes of the value.
    ///
    /// - Throws: `serializationFailed`, `securityApplicationFailed`, `valueTooLarge`, `noSpace` and whatever the store
    ///   reports; then the old value stands, except with `durabilityUnknown` (the new one is in place) and `timedOut`
    ///   (either).
    public func set<Value>(_ value: Value, for key: StorageKey<Value>) async throws {
        let resolved = try await resolve(key)
        let data = try key.serializer.encode(value)
        if !resolved.isSettled.load(ordering: .relaxed), try await setFirst(data, resolved, key) { return }
        await note(resolved, .from(key))
        try await resolved.set(data)
    }

    /// Sets a value for the first time, if there is older data that it supersedes.
    private func setFirst<Value>(
        _ data: Data, _ resolved: ResolvedKey, _ key: StorageKey<Value>
    ) async throws -> Bool {
        var isSet = false
        let engine = try await engine()
        if try await engine.mayBringData(to: key) {
            isSet = try await engine.applySuperseding(data, resolved, AnyStorageKey(key))
        }
        if isSet { await note(resolved, .from(key)) }
        resolved.isSettled.store(true, ordering: .relaxed)
        return isSet
    }

    /// Removes the value, if it is stored. Older data that has not been brought to the key is not brought any
    /// more: what is removed does not come back.
    public func remove<Value>(_ key: StorageKey<Value>) async throws {
        let resolved = try await resolve(key)
        let engine = try await engine()
        if try await engine.mayBringData(to: key),
            try await engine.applySuperseding(nil, resolved, AnyStorageKey(key))
        {
            return
        }
        _ = try await resolved.remove()
    }

    /// Whether a value is stored, even an empty one.
    public func exists<Value>(_ key: StorageKey<Value>) async throws -> Bool {
        try await resolve(key).exists()
    }

    /// The stored value, or else what the key's migration brings; `nil` if there is neither.
    ///
    /// - Throws: What ``get(_:)`` throws, but `notFound`.
    func stored<Value>(_ key: StorageKey<Value>) async throws -> Value? {
        guard let data = try await broughtData(of: resolve(key), key) else { return nil }
        do { return try key.serializer.decode(data) } catch { return try await textValue(in: data, of: key, error) }
    }

    /// The stored bytes, or else what the key's migration brings.
    private func broughtData<Value>(of resolved: ResolvedKey, _ key: StorageKey<Value>) async throws -> Data? {
        if let data = try await resolved.data() { return data }
        let engine = try await engine()
        guard try await engine.mayBringData(to: key) else { return nil }
        // Whether or not it is this call that brings it.
        try await engine.bringData(to: AnyStorageKey(key))
        return try await resolved.data()
    }

    /// The bytes, if the key is known, its store may be asked on the caller's thread, and there are any.
    ///
    /// Nothing that other keys share is counted on the way, and no type is made at run time (not even an optional of
    /// the key's), so that cores do not wait for each other.
    private func readAtOnce(_ slot: KeyResolutionSlot) throws -> Data? {
        guard let known = known(slot) else { return nil }
        return try withExtendedLifetime(slot) {
            try known._withUnsafeGuaranteedRef { known -> Data? in
                do throws(StorageError) { return known.readsInline ? try known.reader.read() : nil } catch {
                    // A thread that may wait asks again.
                    if error.code == .busy { return nil }
                    throw known.naming(error)
                }
            }
        }
    }

    /// The value that stored bytes are as text, if they are recorded as such.
    ///
    /// - Parameter error: Why they are no such value as they are.
    /// - Throws: `error`, with the address and what the bytes are recorded as.
    private func textValue<Value>(
        in data: Data, of key: StorageKey<Value>, _ error: StorageError
    ) async throws -> Value {
        let resolved = try await resolve(key)
        let recorded = try? await resolved.storedAttributes()
        if key.serializer.format == .json, recorded?.isText == true, let string = JSONText.string(data),
            let value = try? key.serializer.decode(string)
        {
            return value
        }
        // What was looked at is perhaps another value's.
        if let now = try await resolved.data(), now != data { return try await get(key) }
        let format = key.serializer.format
        let other = recorded?.contentType.flatMap { $0.isEmpty || $0 == format.contentType ? nil : $0 }
        throw StorageError(
            error.code,
            "'\(resolved.address)': \(error.message)" + (other.map { "; they are recorded as '\($0)'" } ?? ""),
            hint: error.hint)
    }
}
