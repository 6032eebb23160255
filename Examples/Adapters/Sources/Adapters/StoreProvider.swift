import FoundationEssentials
import LocalDataAPI
import LocalDataHost

/// Configuration from a domain: the key `http.timeout` is the value with that name, as JSON or as text. A watch reports
/// what any process stores there.
struct StoreProvider: ConfigProvider {
    let router: StorageRouter
    let domain: StorageDomain
    let security: SecurityPolicy

    init(
        router: StorageRouter = .shared, domain: StorageDomain = .userDefaults(), security: SecurityPolicy = .none
    ) {
        self.router = router
        self.domain = domain
        self.security = security
    }

    var providerName: String { "StoreProvider[\(domain)]" }

    /// Without an owner, as it reads what other parts of the app, or other apps, own.
    private func entry(_ name: String) -> StorageKey<Data> {
        StorageKey(
            name: name, domain: domain, security: security, serializer: .data, owner: "", description: "A setting.")
    }

    private func result(_ data: Data?, _ name: String, _ type: ConfigType) throws -> LookupResult {
        let content = try data.map { try ConfigContent(json: $0, type) }
        return LookupResult(encodedKey: name, value: content.map { ConfigValue($0, isSecret: security != .none) })
    }

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        do { return try result(router.getNow(entry(key.name)), key.name, type) } catch StorageError.notFound {
            return try result(nil, key.name, type)
        }
    }

    func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
        do { return try result(try await router.get(entry(key.name)), key.name, type) } catch StorageError.notFound {
            return try result(nil, key.name, type)
        }
    }

    func watchValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey, type: ConfigType,
        updatesHandler: (ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>) async throws -> Return
    ) async throws -> Return {
        try await watch(try await router.changes(of: entry(key.name)), updatesHandler) {
            do { return .success(try await fetchValue(forKey: key, type: type)) } catch { return .failure(error) }
        }
    }

    func snapshot() -> any ConfigSnapshot {
        do { return try IOExecutor.blocking { await takeSnapshot() } } catch {
            return Snapshot(provider: self, values: .failure(error))
        }
    }

    func watchSnapshot<Return: ~Copyable>(
        updatesHandler: (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
    ) async throws -> Return {
        try await watch(try await router.changes(in: domain), updatesHandler) { await takeSnapshot() }
    }

    /// Passes the current state to a handler, and again after each change.
    private func watch<Changes: Sendable, Update: Sendable, Return: ~Copyable>(
        _ changes: StorageChanges<Changes>,
        _ handler: (ConfigUpdatesAsyncSequence<Update, Never>) async throws -> Return,
        state: @escaping @Sendable () async -> Update
    ) async throws -> Return {
        let (updates, continuation) = AsyncStream<Update>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let watching = Task {
            var iterator = changes.makeAsyncIterator()
            while !Task.isCancelled {
                continuation.yield(await state())
                // A change that cannot be read also counts: the state then holds the error.
                do { if try await iterator.next() == nil { break } } catch {}
            }
            continuation.finish()
        }
        defer { watching.cancel() }
        return try await handler(ConfigUpdatesAsyncSequence(updates))
    }

    /// Reads all values until two readings agree, so that all of them existed at the same time.
    private func takeSnapshot() async -> any ConfigSnapshot {
        do {
            var seen = try await readAll()
            for _ in 0..<20 {
                let now = try await readAll()
                guard now.mapValues(\.revision) != seen.mapValues(\.revision) else {
                    return Snapshot(provider: self, values: .success(now.mapValues(\.value)))
                }
                seen = now
            }
            throw StorageError(.busy, "the values in '\(domain)' change too often for a snapshot")
        } catch { return Snapshot(provider: self, values: .failure(error)) }
    }

    private func readAll() async throws -> [String: Revisioned<Data>] {
        var values: [String: Revisioned<Data>] = [:]
        for name in try await router.names(in: domain) { values[name] = try await router.revisioned(entry(name)) }
        return values
    }

    private struct Snapshot: ConfigSnapshot {
        let provider: StoreProvider
        /// The values, or the error that reading them threw: taking a snapshot has no way to report it.
        let values: Result<[String: Data], any Error>
        var providerName: String { provider.providerName }

        func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
            try provider.result(try values.get()[key.name], key.name, type)
        }
    }
}

extension AbsoluteConfigKey {
    fileprivate var name: String { components.joined(separator: ".") }
}

extension ConfigContent {
    /// Decodes JSON. A string may also be plain text, as `ld-host set` stores it. Bytes are Base64.
    fileprivate init(json data: Data, _ type: ConfigType) throws {
        func value<Value: Codable & Sendable>(_: Value.Type = Value.self) throws -> Value {
            try Serializer<Value>.json.decode(data)
        }
        self =
            switch type {
            case .string: .string(try (try? value()) ?? Serializer.text.decode(data))
            case .int: .int(try value())
            case .double: .double(try value())
            case .bool: .bool(try value())
            case .bytes: .bytes(Array(try value(Data.self)))
            case .stringArray: .stringArray(try value())
            case .intArray: .intArray(try value())
            case .doubleArray: .doubleArray(try value())
            case .boolArray: .boolArray(try value())
            case .byteChunkArray: .byteChunkArray(try value([Data].self).map { Array($0) })
            }
    }
}
