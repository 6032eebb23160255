internal import FoundationEssentials
internal import HostGround
internal import HostMigration
internal import HostStores
public import LocalDataAPI

/// Calls from code that cannot suspend.
extension StorageRouter {
    /// The stored value, without suspending. For keys in stores that answer from memory or disk.
    ///
    /// The first use of a key opens its store, and waits for the disk. Later ones read at once: so they may be made on
    /// the main thread, or on a thread of Swift's pool. It runs no migration, and stores nothing: a value of an older
    /// version is brought to the current one in memory only.
    ///
    /// - Throws: `unsupported` where it would have to wait for more than the disk: for a store on the network or one
    ///   that may ask a person, for a key ring in such a store, for key material that the app supplies, or for older
    ///   data that may have to be migrated first. What ``get(_:)`` throws for all else.
    public func getNow<Value>(_ key: StorageKey<Value>) throws -> Value {
        if !key.isChained, let data = try readAtOnce(key.slot), let value = try? key.serializer.decode(data) {
            return value
        }
        return try IOExecutor.blocking { [self] in try await valueOnDisk(key) }
    }

    /// Stores a value, without suspending. For keys in stores that keep their values in memory or on disk.
    ///
    /// It returns when the value is durable, as ``set(_:for:)`` does: with a store on disk, the calling thread waits
    /// for the device to flush, and for another process that is changing the store at the moment. That takes some
    /// milliseconds, and more on a busy disk, so a main thread that draws should rather set a ``Stored`` property.
    ///
    /// Older data that was not migrated before is ignored from then on, as with ``set(_:for:)``: if there may be some,
    /// the first change of a key looks at its source, wherever that is.
    ///
    /// - Throws: `unsupported` where it would have to wait for more than the disk, as ``getNow(_:)`` does, and in a
    ///   task of ``IOExecutor``, which can await ``set(_:for:)``; what that throws for all else.
    public func setNow<Value>(_ value: Value, for key: StorageKey<Value>) throws {
        try IOExecutor.blocking { [self] in
            try await refuseWaiting(toChange: key, instead: "set")
            try await set(value, for: key)
        }
    }

    /// Removes a value, without suspending. It waits as ``setNow(_:for:)`` does.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: `unsupported` where it would have to wait for more than the disk, as ``setNow(_:for:)`` does; what
    ///   `remove` throws for all else.
    @discardableResult
    public func removeNow<Value>(_ key: StorageKey<Value>) throws -> Bool {
        try IOExecutor.blocking { [self] in
            try await refuseWaiting(toChange: key, instead: "remove")
            return try await remove(key)
        }
    }

    private func refuseWaiting<Value>(toChange key: StorageKey<Value>, instead call: String) async throws {
        let resolved = try await resolve(key)
        if let refusal = resolved.refusal { throw refusal }
        try refuseWaiting(for: resolved, try await snapshot(), "changed", instead: call)
    }

    private func valueOnDisk<Value>(_ key: StorageKey<Value>) async throws -> Value {
        let resolved = try await resolve(key)
        if let refusal = resolved.refusal { throw refusal }
        try refuseWaiting(for: resolved, try await snapshot(), "read", instead: "get")
        if resolved.isDoubtful {
            try await engine().requireOwner(.from(key), resolved)
            if try await engine().newerElsewhere(AnyStorageKey(key), resolved) != nil { throw Self.pending(resolved) }
        }
        guard let found = try await resolved.tagged() else { return try await valueInPlace(of: key, resolved) }
        await noteFound(resolved, .from(key))
        if let chain = key.chain { return try await chain.decode(found.data, versionTag: found.tag).value }
        do { return try key.serializer.decode(found.data) } catch {
            return try await textValue(in: found.data, of: key, error)
        }
    }

    /// What stands in for an absent value.
    private func valueInPlace<Value>(of key: StorageKey<Value>, _ resolved: ResolvedKey) async throws -> Value {
        if try await engine().hasPendingData(for: AnyStorageKey(key), resolved) { throw Self.pending(resolved) }
        if let value = registeredDefault(of: key, resolved) { return value }
        throw StorageError(.notFound, "'\(resolved.address)' is not stored in '\(resolved.open.name)'")
    }

    private static func pending(_ resolved: ResolvedKey) -> StorageError {
        StorageError(
            .unsupported, "'\(resolved.address)' has older data that has to be migrated first",
            hint: "run the migrations, or read it once with 'get'")
    }

    private func refuseWaiting(
        for resolved: ResolvedKey, _ snapshot: RouterSnapshot, _ what: String, instead call: String
    ) throws(StorageError) {
        func refusal(_ why: String) -> StorageError {
            StorageError(
                .unsupported, "'\(resolved.address)' cannot be \(what) without waiting: \(why)",
                hint: "use '\(call)'")
        }
        guard resolved.open.readsInline else {
            throw refusal("the store '\(resolved.open.name)' waits for others")
        }
        for layer in resolved.layers {
            switch layer.keys {
            case .external: throw refusal("the app supplies its key material")
            case .supplied: break
            case .ring:
                let keychain = try snapshot.slot(for: "keychain").openIfNeeded()
                guard keychain.readsInline else {
                    throw refusal("its key is in '\(keychain.name)', which waits for others")
                }
            }
        }
    }
}

extension StoredValue {
    /// Reads the stored value without suspending; the default stays if it is absent. For a program's start: see
    /// ``StorageRouter/getNow(_:)``.
    ///
    /// - Throws: What ``StorageRouter/getNow(_:)`` throws, except `notFound`; the value in memory stays.
    public func loadNow() throws {
        let revision = currentRevision
        do { show(try router.getNow(key), loadedAt: revision) } catch let error as StorageError
            where error.code == .notFound
        {
            show(nil, loadedAt: revision)
        }
    }
}
