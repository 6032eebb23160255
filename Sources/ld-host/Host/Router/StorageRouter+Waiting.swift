internal import FoundationEssentials
public import LocalDataAPI

/// Reading from code that cannot suspend.
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

    private func valueOnDisk<Value>(_ key: StorageKey<Value>) async throws -> Value {
        let resolved = try await resolve(key)
        if let refusal = resolved.refusal { throw refusal }
        try refuseWaiting(for: resolved, try await snapshot())
        guard let found = try await resolved.tagged() else { return try await valueInPlace(of: key, resolved) }
        if let chain = key.chain { return try await chain.decode(found.data, versionTag: found.tag).value }
        do { return try key.serializer.decode(found.data) } catch {
            return try await textValue(in: found.data, of: key, error)
        }
    }

    /// What stands in for an absent value.
    private func valueInPlace<Value>(of key: StorageKey<Value>, _ resolved: ResolvedKey) async throws -> Value {
        if try await engine().mayBringData(to: key) {
            throw StorageError(
                .unsupported, "'\(resolved.address)' is not stored, and older data may have to be migrated first",
                hint: "run the migrations, or read it once with 'get'")
        }
        if let value = registeredDefault(of: key, resolved) { return value }
        throw StorageError(.notFound, "'\(resolved.address)' is not stored in '\(resolved.open.name)'")
    }

    private func refuseWaiting(for resolved: ResolvedKey, _ snapshot: RouterSnapshot) throws(StorageError) {
        func refusal(_ what: String) -> StorageError {
            StorageError(
                .unsupported, "'\(resolved.address)' cannot be read without waiting: \(what)", hint: "use 'get'")
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
