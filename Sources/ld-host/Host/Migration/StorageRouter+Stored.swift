internal import FoundationEssentials
internal import LocalDataAPI

/// Values as stores keep them, for whoever has to tell whether they changed.
extension StorageRouter {
    /// The bytes in the store, sealed if they are; `nil` if there are none.
    func stored(_ resolved: ResolvedKey) async throws(StorageError) -> Data? {
        if let refusal = resolved.refusal { throw refusal }
        return try await resolved.open.wait("reading '\(resolved.address)'") { () throws(StorageError) in
            try resolved.open.repeating { () throws(StorageError) in try resolved.store.get(resolved.handle) }
        }
    }

    /// The same, for changes that follow from it.
    ///
    /// - Parameter views: One for each scope, added as they are needed.
    func stored(
        _ resolved: ResolvedKey, _ views: inout [AtomicScope: StoreView]
    ) async throws(StorageError) -> Data? {
        if let refusal = resolved.refusal { throw refusal }
        let scope = resolved.scope
        let known = views[scope]
        let (view, stored) = try await scope.open.wait("reading '\(resolved.address)'") { () throws(StorageError) in
            let view = if let known { known } else { try StoreView(scope) }
            return (view, try view.read(resolved))
        }
        views[scope] = view
        return stored
    }

    /// The value in bytes that a store keeps.
    func opened(_ stored: Data, of resolved: ResolvedKey) async throws(StorageError) -> Data {
        guard !resolved.layers.isEmpty else { return stored }
        let value = try await sealedValue(of: resolved)
        return try await resolved.open.wait("opening '\(resolved.address)'") { () throws(StorageError) in
            try value.open(stored)
        }
    }
}
