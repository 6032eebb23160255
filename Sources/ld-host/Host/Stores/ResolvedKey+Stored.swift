internal import FoundationEssentials
internal import LocalDataAPI

/// Values as stores keep them, to detect changes.
extension ResolvedKey {
    /// The bytes in the store, sealed or not; `nil` if there are none.
    func stored() async throws(StorageError) -> Data? {
        if let refusal = refusal { throw refusal }
        return try await open.wait("reading '\(address)'") { [self] () throws(StorageError) in
            try open.repeating { () throws(StorageError) in try store.get(handle) }
        }
    }

    /// The same, for changes that are based on it.
    ///
    /// - Parameter views: One view per scope, added on demand.
    func stored(_ views: inout [AtomicScope: StoreView]) async throws(StorageError) -> Data? {
        if let refusal = refusal { throw refusal }
        let scope = self.scope
        let known = views[scope]
        let (view, stored) = try await scope.open.wait("reading '\(address)'") { [self] () throws(StorageError) in
            let view = if let known { known } else { try StoreView(scope) }
            return (view, try view.read(self))
        }
        views[scope] = view
        return stored
    }

    /// Opens a value from the bytes in a store.
    func opened(_ stored: Data) async throws(StorageError) -> Data {
        guard !layers.isEmpty else { return stored }
        let value = try await sealedValue()
        return try await open.wait("opening '\(address)'") { () throws(StorageError) in
            try value.open(stored)
        }
    }

    /// The hash of the bytes in a store, whatever their size; `nil` if there are none.
    func mark() async throws(StorageError) -> UInt64? {
        try await open.wait("reading '\(address)'") { [self] () throws(StorageError) in
            try open.repeating { () throws(StorageError) in
                guard try store.exists(handle) else { return nil }
                return try sealedValue(layers).storedDigest()
            }
        }
    }
}
