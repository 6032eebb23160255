public import FoundationEssentials
public import LocalDataAPI
public import LocalDataHost

/// Tests the versions of a key: stores a value as an earlier release did, and reads it as this one does.
///
/// ```swift
/// let subject = ChainUnderTest(.settings)
/// let settings = try await subject.read(SettingsV1(theme: "dark"))
/// #expect(settings == Settings(theme: "dark", notifications: true))
/// ```
///
/// Besides reading, it checks what every chain promises: that reading stores the value in the current version, with its
/// tag, and that it reads the same from then on.
public struct ChainUnderTest<Value: Codable & Sendable & Equatable>: Sendable {
    private let key: StorageKey<Value>
    private let router: @Sendable () async throws -> StorageRouter

    /// - Parameters:
    ///   - key: The key, with its migrator.
    ///   - router: Gives the router of each run, with empty stores; by default one in memory.
    public init(
        _ key: StorageKey<Value>,
        router: @escaping @Sendable () async throws -> StorageRouter = { try await .inMemory() }
    ) {
        self.key = key
        self.router = router
    }

    /// Reads a value of an earlier release.
    ///
    /// - Parameters:
    ///   - old: The value, as that release had it.
    ///   - versionTag: The tag that it was stored with; `nil` if the key had no versions then.
    ///   - serializer: How that release stored it.
    /// - Throws: What `get` throws; `validationFailed` with what the chain does not keep.
    public func read<Old: Codable & Sendable>(
        _ old: Old, versionTag: String? = nil, serializer: Serializer<Old> = .json
    ) async throws -> Value {
        try await read(serializer.encode(old), versionTag: versionTag)
    }

    /// Reads the bytes of an earlier release.
    public func read(_ bytes: Data, versionTag: String? = nil) async throws -> Value {
        guard let current = key.chain?.versionTag else { throw broken("it has no versions") }
        let router = try await router()
        let any = AnyStorageKey.key(key)
        try await router.setData(bytes, versionTag: versionTag, for: any)
        let value = try await router.get(key)
        guard try await router.attributes(of: any)?.versionTag == current else {
            throw broken("reading does not store the value with the current version's tag")
        }
        guard try await router.get(key) == value else { throw broken("it reads differently the second time") }
        return value
    }

    private func broken(_ what: String) -> MigrationError {
        MigrationError(.validationFailed, "the key '\(key.domain)/\(key.name)': \(what)")
    }
}
