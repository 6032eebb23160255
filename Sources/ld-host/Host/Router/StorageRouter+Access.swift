internal import FoundationEssentials
internal import HostGround
internal import HostMigration
internal import HostPlugins
internal import HostStores
public import LocalDataAPI
internal import Synchronization

extension StorageRouter {
    /// The stored value, or else what the key's migration brings, or else the registered default: see
    /// ``registerDefault(_:for:)``.
    ///
    /// A key with the serializer `json` also reads a value that a person or another program stored as text
    /// (`text/plain`), if the text is a value of its type. So it does if nothing is recorded with the value any more,
    /// and it can only be text.
    ///
    /// - Throws: `notFound` if all of these are absent; `deserializationFailed` if the stored bytes are not such a
    ///   value, and then they stay; `securityApplicationFailed` if the key's policy cannot be applied here;
    ///   `MigrationError` if there may be older data that could not be migrated.
    public func get<Value>(_ key: StorageKey<Value>) async throws -> Value {
        if key.isChained, let chain = key.chain {
            if let value = try await chained(key, chain) { return value }
        } else if let data = try readAtOnce(key.slot) {
            do { return try key.serializer.decode(data) } catch { return try await textValue(in: data, of: key, error) }
        }
        let resolved = try await resolveForReading(key)
        if !key.isChained, let data = try await broughtData(of: resolved, key) {
            do { return try key.serializer.decode(data) } catch { return try await textValue(in: data, of: key, error) }
        }
        if let value = registeredDefault(of: key, resolved) { return value }
        throw StorageError(.notFound, "'\(resolved.address)' is not stored in '\(resolved.open.name)'")
    }

    /// Stores a value, replacing the old one. Older data that was not migrated before is ignored from then on.
    ///
    /// - Throws: `serializationFailed`, `securityApplicationFailed`, `valueTooLarge`, `noSpace` and whatever the store
    ///   reports. Then the old value stays, except with `durabilityUnknown` (the new one is in place) and `timedOut`
    ///   (either).
    public func set<Value>(_ value: Value, for key: StorageKey<Value>) async throws {
        let resolved = try await resolve(key)
        try await requireOwner(resolved, .from(key))
        let data = try key.encode(value)
        if !resolved.isSettled.load(ordering: .relaxed) {
            if try await following({ try await setFirst(data, resolve(key), key) }) { return }
        }
        do throws(StorageError) { try await resolved.set(data) } catch {
            guard error.isSuperseded else { throw error }
            return try await set(value, for: key)
        }
        await note(resolved, .from(key))
    }

    /// Sets a value for the first time if there is older data that it supersedes.
    private func setFirst<Value>(
        _ data: Data, _ resolved: ResolvedKey, _ key: StorageKey<Value>
    ) async throws -> Bool {
        var isSet = false
        if key.isChained { try await keepUnread(AnyStorageKey(key), resolved) }
        let engine = try await engine()
        if try await engine.mayBringData(to: key) {
            isSet = try await engine.applySuperseding(data, resolved, AnyStorageKey(key))
        }
        if isSet { await note(resolved, .from(key)) }
        resolved.isSettled.store(true, ordering: .relaxed)
        return isSet
    }

    /// Removes the value, if it is stored. Older data that was not migrated before is ignored from then on: a removed
    /// value does not come back.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func remove<Value>(_ key: StorageKey<Value>) async throws -> Bool {
        try await following { try await removeOnce(key) }
    }

    private func removeOnce<Value>(_ key: StorageKey<Value>) async throws -> Bool {
        let resolved = try await resolve(key)
        try await requireOwner(resolved, .from(key))
        if key.isChained { try await endWaiting(AnyStorageKey(key), resolved) }
        let isRemoved =
            try await engine().mayBringData(to: key)
            ? try await removeSuperseding(resolved, AnyStorageKey(key)) : try await resolved.remove()
        if !isRemoved, try await hasMoved(resolved, { try await resolve(key) }) { return try await removeOnce(key) }
        return isRemoved
    }

    /// The protocol's form. It is the same call: only its type has no result.
    @_disfavoredOverload
    public func remove<Value>(_ key: StorageKey<Value>) async throws { _ = try await remove(key) as Bool }

    /// Whether a value is stored, even an empty one: at the key's place, or at one where the key was before.
    ///
    /// - Throws: `conflict` if nothing shows which of several values is the key's.
    public func exists<Value>(_ key: StorageKey<Value>) async throws -> Bool {
        let resolved = try await resolveForReading(key)
        guard try await !resolved.exists() else {
            await noteFound(resolved, .from(key))
            return true
        }
        if try await hasMoved(resolved, { try await resolveForReading(key) }) { return try await exists(key) }
        return try await engine().isElsewhere(AnyStorageKey(key), resolved)
    }

    /// The stored value, or else what the key's migration brings; `nil` if there is neither.
    ///
    /// - Throws: What ``get(_:)`` throws, except `notFound`.
    func stored<Value>(_ key: StorageKey<Value>) async throws -> Value? {
        if let chain = key.chain { return try await chained(key, chain) }
        guard let data = try await broughtData(of: resolveForReading(key), key) else { return nil }
        do { return try key.serializer.decode(data) } catch { return try await textValue(in: data, of: key, error) }
    }

    /// The stored bytes, or else what the key's migration brings.
    private func broughtData<Value>(of resolved: ResolvedKey, _ key: StorageKey<Value>) async throws -> Data? {
        if let data = try await resolved.data() {
            await noteFound(resolved, .from(key))
            return data
        }
        if try await hasMoved(resolved, { try await resolveForReading(key) }) {
            return try await broughtData(of: resolveForReading(key), key)
        }
        let engine = try await engine()
        guard try await engine.mayBringData(to: key) else { return nil }
        // Another call may bring it, and another store may serve the key then.
        try await following { try await self.engine().bringData(to: AnyStorageKey(key)) }
        let now = try await resolve(key)
        guard let data = try await now.data() else { return nil }
        await noteFound(now, .from(key))
        return data
    }

    /// Whether a value that is absent has to be looked for again: another store serves its domain since it was looked
    /// for, and the values may be there by now.
    ///
    /// - Parameter resolve: Resolves the key again.
    /// - Throws: `invalidConfiguration` if a store that served the domain before has the value.
    func hasMoved(_ resolved: ResolvedKey, _ resolve: () async throws -> ResolvedKey) async throws -> Bool {
        let now = try await resolve()
        guard now.open === resolved.open else { return true }
        try await access().requireAbsent(now)
        return false
    }

    /// The bytes, if the key is resolved, its store may be called on the caller's thread, and a value is stored.
    ///
    /// On the way it changes no reference count that other keys share, and creates no generic type at run time (not
    /// even an optional of the key's type), so that cores do not wait for each other.
    func readAtOnce(_ slot: KeyResolutionSlot) throws -> Data? {
        guard let known = known(slot) else { return nil }
        return try withExtendedLifetime(slot) {
            try known._withUnsafeGuaranteedRef { known -> Data? in
                do throws(StorageError) { return known.readsInline ? try known.reader.read() : nil } catch {
                    // A thread that may wait tries again.
                    if error.code == .busy || error.code == StorageError.expired.code { return nil }
                    throw known.naming(error)
                }
            }
        }
    }

    /// Decodes stored bytes as text, if they are recorded as text, or can only be text.
    ///
    /// - Parameter error: Why they do not decode as they are.
    /// - Throws: `error`, with the address and the recorded content type.
    func textValue<Value>(
        in data: Data, of key: StorageKey<Value>, _ error: StorageError
    ) async throws -> Value {
        let resolved = try await resolve(key)
        try resolved.requirePlain(data)
        let recorded = try? await resolved.storedAttributes()
        if key.serializer.format == .json, let string = JSONText.string(data, recordedWith: recorded),
            let value = try? key.serializer.decode(string)
        {
            return value
        }
        // The attributes may belong to another value.
        if try await resolved.data() != data { return try await get(key) }
        let format = key.serializer.format
        let other = recorded?.contentType.flatMap { $0.isEmpty || $0 == format.contentType ? nil : $0 }
        throw StorageError(
            error.code,
            "'\(resolved.address)': \(error.message)" + (other.map { "; they are recorded as '\($0)'" } ?? ""),
            hint: error.hint)
    }
}

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
