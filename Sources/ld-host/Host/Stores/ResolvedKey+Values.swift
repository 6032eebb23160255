package import FoundationEssentials
internal import HostGround
package import HostPlugins
internal import HostSealing
package import LocalDataAPI

/// The value of a key, behind its layers.
extension ResolvedKey {
    /// The value, opened; `nil` if absent.
    package func data() async throws(StorageError) -> Data? {
        try await reading { [self] (store) throws(StorageError) in
            let data = try store.get(handle)
            try requirePlain(data)
            return data
        } opened: { (value) throws(StorageError) in
            try value.get()
        } atOnce: { (value) throws(StorageError) in
            try value.getAtOnce()
        }
    }

    /// The value, opened, and the version tag that it is stored with; `nil` if there is no value.
    package func tagged() async throws(StorageError) -> TaggedValue? {
        try await reading { [self] (store) throws(StorageError) in
            guard let found = try store.tagged(handle) else { return nil }
            try requirePlain(found.value)
            return TaggedValue(data: found.value, tag: found.tag)
        } opened: { (value) throws(StorageError) in
            try value.tagged()
        }
    }

    /// The value, opened, with the revision and the attributes that it is stored with; `nil` if there is no value.
    package func revisioned() async throws(StorageError) -> RevisionedData? {
        try await reading { [self] (store) throws(StorageError) in
            let found = try store.revisioned(handle)
            try requirePlain(found?.data)
            return found
        } opened: { (value) throws(StorageError) in
            try value.revisioned()
        }
    }

    /// Reads a plain value from the store, or what its layers open.
    ///
    /// - Parameter atOnce: Opens the value on the caller's thread; `nil` if that would have to wait.
    private func reading<Value: Sendable>(
        plain: @escaping @Sendable (LoadedStore) throws(StorageError) -> Value?,
        opened: @escaping @Sendable (SealedValue) throws(StorageError) -> Value?,
        atOnce: (SealedValue) throws(StorageError) -> Value?? = { _ in nil }
    ) async throws(StorageError) -> Value? {
        if let refusal { throw refusal }
        guard layers.isEmpty else {
            let value = try await sealedValue()
            do throws(StorageError) {
                if open.readsInline, let found = try atOnce(value) { return found }
            } catch {
                guard open.isBusyForNow(error) else { throw error }
            }
            return try await open.wait("reading '\(address)'") { [open] () throws(StorageError) in
                try open.repeating { () throws(StorageError) in try opened(value) }
            }
        }
        do throws(StorageError) { return try await open.read("reading '\(address)'", plain) } catch {
            throw naming(error)
        }
    }

    package func set(_ data: Data) async throws(StorageError) { try await set(data, attributes: attributes) }

    package func set(_ data: Data, attributes: ValueAttributes?) async throws(StorageError) {
        try await writing { [handle] (store) throws(StorageError) in
            try store.set(handle, to: data, attributes: attributes)
        } sealed: { (value) throws(StorageError) in
            try value.set(data, attributes: attributes)
        }
        if attributes?.expires != nil { await open.sweepNowAndThen(address.place) }
    }

    /// Stores a value if the stored one fulfils a condition.
    ///
    /// - Returns: The new revision; `nil` if it does not, and then nothing has changed.
    package func set(
        _ data: Data, attributes: ValueAttributes?, if condition: WriteCondition
    ) async throws(StorageError) -> UInt64? {
        let revision = try await writing { [handle] (store) throws(StorageError) in
            try store.set(handle, to: data, attributes: attributes, if: condition)
        } sealed: { (value) throws(StorageError) in
            try value.set(data, attributes: attributes, if: condition)
        }
        if revision != nil, attributes?.expires != nil { await open.sweepNowAndThen(address.place) }
        return revision
    }

    /// Writes a plain value to the store, or seals it by its layers.
    private func writing<Result: Sendable>(
        plain: @escaping @Sendable (LoadedStore) throws(StorageError) -> Result,
        sealed: @escaping @Sendable (SealedValue) throws(StorageError) -> Result
    ) async throws(StorageError) -> Result {
        if let refusal { throw refusal }
        guard layers.isEmpty else {
            let value = try await sealedValue()
            return try await open.wait("writing '\(address)'") { () throws(StorageError) in try sealed(value) }
        }
        return try await open.write("writing '\(address)'", plain)
    }

    /// Checks a value that is about to be read in pieces; see ``requirePlain(_:)``. May wait.
    package func requirePlain() throws(StorageError) {
        guard layers.isEmpty, open.hasForgottenSealing || recognizesSeals else { return }
        try requirePlain(sealed.start())
    }

    /// Checks a value that is read as a plain one.
    ///
    /// - Throws: `securityApplicationFailed` if it is sealed: by the store, which is configured without its sealing, or
    ///   by the policy that the key once had.
    package func requirePlain(_ data: Data?) throws(StorageError) {
        guard let data, data.first == EnvelopeHeader.magic[0] else { return }
        try requirePlain(EnvelopeStart(data))
    }

    private func requirePlain(_ start: EnvelopeStart) throws(StorageError) {
        if open.hasForgottenSealing, start.isOfStore { throw StoreSealing.forgotten(open.name, "'\(address)'") }
        if recognizesSeals, start.isEnvelope { throw StorageError.sealed(address) }
    }

    /// Removes the value if it has a revision; `false` if it has another one or does not exist.
    package func remove(ifRevision revision: UInt64) async throws(StorageError) -> Bool {
        // Removing needs no key.
        let value = sealedValue(layers)
        return try await open.write("removing '\(address)'") { (_) throws(StorageError) in
            try value.remove(ifRevision: revision)
        }
    }

    package func remove() async throws(StorageError) -> Bool {
        guard layers.isEmpty else {
            // Removing needs no key.
            let value = sealedValue(layers)
            return try await open.wait("removing '\(address)'") { () throws(StorageError) in
                try value.remove()
            }
        }
        return try await open.write("removing '\(address)'") { [self] (store) throws(StorageError) in
            try store.remove(handle)
        }
    }

    package func exists() async throws(StorageError) -> Bool {
        try await open.read("looking for '\(address)'") { [self] (store) throws(StorageError) in
            try store.exists(handle)
        }
    }

    /// The value behind its layers, with the key material from the app's providers.
    package func sealedValue() async throws(StorageError) -> SealedValue {
        var layers = layers
        for (index, layer) in layers.enumerated() {
            guard case .external(let source, let name, let providers) = layer.keys else { continue }
            let material: SecretBytes
            do throws(StorageError) { material = try await providers.material(of: source, for: name) } catch {
                throw StorageError(error.code, "'\(address)': \(error.message)", hint: error.hint)
            }
            layers[index] = SealingLayer(
                keys: .supplied(EnvelopeKey(material)), envelope: layer.envelope, style: layer.style, limit: layer.limit
            )
        }
        return sealedValue(layers)
    }

    /// The stored value's attributes; `nil` if there is no value.
    ///
    /// - Parameter deriving: Whether a slow key derivation is allowed.
    package func storedAttributes(deriving: Bool = true) async throws(StorageError) -> ValueAttributes? {
        if let refusal = refusal { throw refusal }
        guard layers.isEmpty else {
            let value = try await sealedValue()
            return try await open.wait("reading attributes of '\(address)'") {
                () throws(StorageError) in try value.attributes(deriving: deriving)
            }
        }
        guard attributes != nil else { return try await exists() ? ValueAttributes() : nil }
        return try await open.write("reading attributes of '\(address)'") {
            [self] (store) throws(StorageError) in try store.attributes(of: handle)
        }
    }

    /// Adds the value's address and the store's name to a store's error for a corrupt value.
    package func naming(_ error: StorageError) -> StorageError {
        guard error.code == .corrupt else { return error }
        return StorageError(
            error.code, "'\(address)' in store '\(open.name)' is corrupt: \(error.message)", hint: error.hint)
    }

    package func sealedValue(_ layers: [SealingLayer]) -> SealedValue {
        SealedValue(
            store: store, handle: handle, layers: layers, place: open.sealedPlace(address.place), owner: self)
    }
}

extension StorageError {
    /// A value that is read as a plain one, though a policy has sealed it.
    fileprivate static func sealed(_ address: StorageAddress) -> StorageError {
        StorageError(
            .securityApplicationFailed, "'\(address)' is sealed, and its key reads it as a plain value",
            hint: "give the key the security that the value was stored with; see: ld-host envelope inspect ADDRESS")
    }
}
