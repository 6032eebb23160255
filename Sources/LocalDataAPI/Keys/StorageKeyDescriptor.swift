/// All that is known of a key without its type: what catalogs, audits and migrations work with.
public struct StorageKeyDescriptor: Sendable {
    /// The name in its domain.
    public let name: String
    /// Where the value belongs.
    public let domain: StorageDomain
    /// How it is protected.
    public let security: SecurityPolicy
    /// The format of its bytes.
    public let serializer: SerializerFormat
    /// The name of the value's type.
    public let valueType: String
    /// Who answers for it.
    public let owner: String
    /// What it is, for people.
    public let description: String
    /// On which devices it may be used.
    public let availability: PlatformAvailability
    /// Whether it is synchronized.
    public let syncPolicy: SyncPolicy
    /// The catalog that registered it, if one did.
    public let catalog: String?

    /// Describes a key that has no Swift type here, e.g. one from a manifest.
    public init(
        name: String, domain: StorageDomain, security: SecurityPolicy = .recommended,
        serializer: SerializerFormat = .json, valueType: String = "", owner: String, description: String,
        availability: PlatformAvailability = .all, syncPolicy: SyncPolicy = .never, catalog: String? = nil
    ) {
        self.name = name
        self.domain = domain
        self.security = security
        self.serializer = serializer
        self.valueType = valueType
        self.owner = owner
        self.description = description
        self.availability = availability
        self.syncPolicy = syncPolicy
        self.catalog = catalog
    }

    /// The description of a typed key.
    public static func from<Value>(_ key: StorageKey<Value>, catalog: String? = nil) -> StorageKeyDescriptor {
        StorageKeyDescriptor(
            name: key.name, domain: key.domain, security: key.security, serializer: key.serializer.format,
            valueType: String(describing: Value.self), owner: key.owner, description: key.description,
            availability: key.availability, syncPolicy: key.syncPolicy, catalog: catalog)
    }
}
