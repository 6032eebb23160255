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
        try await store(data, resolved)
    }

    /// Sets a value for the first time, if there is older data that it supersedes.
    private func setFirst<Value>(
        _ data: Data, _ resolved: ResolvedKey, _ key: StorageKey<Value>
    ) async throws -> Bool {
        var isSet = false
        if try await mayBringData(to: key) { isSet = try await applySuperseding(data, resolved, AnyStorageKey(key)) }
        if isSet { await note(resolved, .from(key)) }
        resolved.isSettled.store(true, ordering: .relaxed)
        return isSet
    }

    /// Removes the value, if it is stored. Older data that has not been brought to the key is not brought any
    /// more: what is removed does not come back.
    public func remove<Value>(_ key: StorageKey<Value>) async throws {
        let resolved = try await resolve(key)
        if try await mayBringData(to: key), try await applySuperseding(nil, resolved, AnyStorageKey(key)) { return }
        _ = try await remove(resolved)
    }

    /// Whether a value is stored, even an empty one.
    public func exists<Value>(_ key: StorageKey<Value>) async throws -> Bool {
        try await exists(resolve(key))
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
        if let data = try await data(of: resolved) { return data }
        guard try await mayBringData(to: key) else { return nil }
        // Whether or not it is this call that brings it.
        try await bringData(to: AnyStorageKey(key))
        return try await data(of: resolved)
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
        let recorded = try? await attributes(of: resolved)
        if key.serializer.format == .json, recorded?.isText == true, let string = JSONText.string(data),
            let value = try? key.serializer.decode(string)
        {
            return value
        }
        // What was looked at is perhaps another value's.
        if let now = try await self.data(of: resolved), now != data { return try await get(key) }
        let format = key.serializer.format
        let other = recorded?.contentType.flatMap { $0.isEmpty || $0 == format.contentType ? nil : $0 }
        throw StorageError(
            error.code,
            "'\(resolved.address)': \(error.message)" + (other.map { "; they are recorded as '\($0)'" } ?? ""),
            hint: error.hint)
    }
}

extension StorageRouter {
    func data(of resolved: ResolvedKey) async throws(StorageError) -> Data? {
        if let refusal = resolved.refusal { throw refusal }
        if resolved.layers.isEmpty {
            do throws(StorageError) {
                return try await resolved.open.read("reading '\(resolved.address)'") { (store) throws(StorageError) in
                    try store.get(resolved.handle)
                }
            } catch { throw resolved.naming(error) }
        }
        let value = try await sealedValue(of: resolved)
        do throws(StorageError) {
            if resolved.open.readsInline, let data = try value.getAtOnce() { return data }
        } catch {
            guard resolved.open.isBusyForNow(error) else { throw error }
        }
        return try await resolved.open.wait("reading '\(resolved.address)'") { () throws(StorageError) in
            try resolved.open.repeating { () throws(StorageError) in try value.get() }
        }
    }

    func store(_ data: Data, _ resolved: ResolvedKey) async throws(StorageError) {
        if let refusal = resolved.refusal { throw refusal }
        if !resolved.layers.isEmpty {
            let value = try await sealedValue(of: resolved)
            return try await resolved.open.wait("writing '\(resolved.address)'") { () throws(StorageError) in
                try value.set(data, attributes: resolved.attributes)
            }
        }
        if resolved.open.writesInline {
            return try resolved.store.set(resolved.handle, to: data, attributes: resolved.attributes)
        }
        try await resolved.open.write("writing '\(resolved.address)'") { (store) throws(StorageError) in
            try store.set(resolved.handle, to: data, attributes: resolved.attributes)
        }
    }

    func remove(_ resolved: ResolvedKey) async throws(StorageError) -> Bool {
        guard resolved.layers.isEmpty else {
            // No key is needed for that.
            let value = resolved.sealedValue(resolved.layers)
            return try await resolved.open.wait("removing '\(resolved.address)'") { () throws(StorageError) in
                try value.remove()
            }
        }
        return try await resolved.open.write("removing '\(resolved.address)'") { (store) throws(StorageError) in
            try store.remove(resolved.handle)
        }
    }

    func exists(_ resolved: ResolvedKey) async throws(StorageError) -> Bool {
        try await resolved.open.read("looking for '\(resolved.address)'") { (store) throws(StorageError) in
            try store.exists(resolved.handle)
        }
    }

    /// The value behind its layers, with the key material that the app's providers supply.
    func sealedValue(of resolved: ResolvedKey) async throws(StorageError) -> SealedValue {
        var layers = resolved.layers
        for (index, layer) in layers.enumerated() {
            guard case .external(let source, let name) = layer.keys else { continue }
            let providers = state.withLock { $0.providers }
            let material: SecretBytes
            do throws(StorageError) { material = try await providers.material(of: source, for: name) } catch {
                throw StorageError(error.code, "'\(resolved.address)': \(error.message)", hint: error.hint)
            }
            layers[index] = SealingLayer(
                keys: .supplied(EnvelopeKey(material)), envelope: layer.envelope, style: layer.style, limit: layer.limit
            )
        }
        return resolved.sealedValue(layers)
    }
}

extension ResolvedKey {
    /// What a store says of a corrupt value, with the value's address and the store's name.
    func naming(_ error: StorageError) -> StorageError {
        guard error.code == .corrupt else { return error }
        return StorageError(
            error.code, "'\(address)' in store '\(open.name)' is corrupt: \(error.message)", hint: error.hint)
    }

    func sealedValue(_ layers: [SealingLayer]) -> SealedValue {
        SealedValue(
            store: store, handle: handle, layers: layers, place: open.sealedPlace(address.place), owner: self)
    }
}
