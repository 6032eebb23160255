/// The values of a namespace whose names begin with a prefix: a source or a destination of a bulk migration.
public struct MigrationRange: Hashable, Sendable {
    /// Where the values belong.
    public let domain: StorageDomain
    /// How their names begin; empty for all values of the namespace.
    public let prefix: String
    /// How they are protected.
    public let security: SecurityPolicy
    /// The format of their bytes.
    public let serializer: SerializerFormat

    /// Names a range.
    ///
    /// - Parameter security: If `nil`, the domain's own policy: sealed in `keychain` and `encryptedFileSystem`, plain
    ///   elsewhere.
    public init(
        domain: StorageDomain, prefix: String = "", security: SecurityPolicy? = nil,
        serializer: SerializerFormat = .json
    ) {
        self.domain = domain
        self.prefix = prefix
        self.security = security ?? domain.ownPolicy
        self.serializer = serializer
    }

    /// Whether a name is in the range, compared byte for byte.
    public func contains(_ name: String) -> Bool { name.utf8.starts(with: prefix.utf8) }

    /// The key of a name in the range.
    package func key(_ name: String) -> AnyStorageKey {
        AnyStorageKey(
            StorageKeyDescriptor(
                name: name, domain: domain, security: security, serializer: serializer, owner: "", description: ""))
    }
}

extension MigrationRange: CustomStringConvertible {
    /// The domain and the prefix, e.g. `userDefaults/old.*`.
    public var description: String { "\(domain)/\(prefix)*" }
}
