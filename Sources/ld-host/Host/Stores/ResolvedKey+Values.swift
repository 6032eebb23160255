internal import FoundationEssentials
internal import LocalDataAPI

/// The value of a key, behind its layers.
extension ResolvedKey {
    /// The value, opened; `nil` if there is none.
    func data() async throws(StorageError) -> Data? {
        if let refusal = refusal { throw refusal }
        if layers.isEmpty {
            do throws(StorageError) {
                return try await open.read("reading '\(address)'") { [self] (store) throws(StorageError) in
                    try store.get(handle)
                }
            } catch { throw naming(error) }
        }
        let value = try await sealedValue()
        do throws(StorageError) {
            if open.readsInline, let data = try value.getAtOnce() { return data }
        } catch {
            guard open.isBusyForNow(error) else { throw error }
        }
        return try await open.wait("reading '\(address)'") { [self] () throws(StorageError) in
            try open.repeating { () throws(StorageError) in try value.get() }
        }
    }

    func set(_ data: Data) async throws(StorageError) {
        if let refusal = refusal { throw refusal }
        if !layers.isEmpty {
            let value = try await sealedValue()
            return try await open.wait("writing '\(address)'") { [self] () throws(StorageError) in
                try value.set(data, attributes: attributes)
            }
        }
        if open.writesInline {
            return try store.set(handle, to: data, attributes: attributes)
        }
        try await open.write("writing '\(address)'") { [self] (store) throws(StorageError) in
            try store.set(handle, to: data, attributes: attributes)
        }
    }

    func remove() async throws(StorageError) -> Bool {
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

    func exists() async throws(StorageError) -> Bool {
        try await open.read("looking for '\(address)'") { [self] (store) throws(StorageError) in
            try store.exists(handle)
        }
    }

    /// The value behind its layers, with the key material from the app's providers.
    func sealedValue() async throws(StorageError) -> SealedValue {
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
    func storedAttributes(deriving: Bool = true) async throws(StorageError) -> ValueAttributes? {
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
