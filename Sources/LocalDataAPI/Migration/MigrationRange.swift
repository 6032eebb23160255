/// The values of a place whose names begin with a prefix: where a bulk migration takes them from, or brings them to.
public struct MigrationRange: Hashable, Sendable {
    /// Where the values belong.
    public let domain: StorageDomain
    /// How their names begin; empty for all values of the place.
    public let prefix: String
    /// How they are protected.
    public let security: SecurityPolicy
    /// The format of their bytes.
    public let serializer: SerializerFormat

    /// Names a range.
    ///
    /// - Parameter security: The domain's own if `nil`: sealed in `keychain` and `encryptedFileSystem`, plain
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

    /// Whether a name is one of the range; names are compared byte for byte.
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
