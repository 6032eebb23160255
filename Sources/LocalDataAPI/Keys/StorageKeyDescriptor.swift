/// A key's description without its type, for catalogs, audits and migrations.
public struct StorageKeyDescriptor: Sendable {
    /// The name in its domain.
    public let name: String
    /// Where the value belongs.
    public let domain: StorageDomain
    /// How the value is protected.
    public let security: SecurityPolicy
    /// The format of the value's bytes.
    public let serializer: SerializerFormat
    /// The name of the value's type.
    public let valueType: String
    /// The owner: a module or a team.
    public let owner: String
    /// What the key is for.
    public let description: String
    /// The devices that may use the key.
    public let availability: PlatformAvailability
    /// Whether the value is synchronized.
    public let syncPolicy: SyncPolicy
    /// How long a value stays after it was set; `nil` for ever.
    public let lifetime: Duration?
    /// The catalog that registered the key, if any.
    public let catalog: String?

    /// Describes a key without a Swift type, e.g. one from a manifest.
    public init(
        name: String, domain: StorageDomain, security: SecurityPolicy = .recommended,
        serializer: SerializerFormat = .json, valueType: String = "", owner: String, description: String,
        availability: PlatformAvailability = .all, syncPolicy: SyncPolicy = .never, lifetime: Duration? = nil,
        catalog: String? = nil
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
        self.lifetime = lifetime
        self.catalog = catalog
    }

    /// The same description, of a key of a catalog.
    func withCatalog(_ name: String) -> StorageKeyDescriptor {
        StorageKeyDescriptor(
            name: self.name, domain: domain, security: security, serializer: serializer, valueType: valueType,
            owner: owner, description: description, availability: availability, syncPolicy: syncPolicy,
            lifetime: lifetime, catalog: name)
    }

    /// The description of a typed key.
    public static func from<Value>(_ key: StorageKey<Value>, catalog: String? = nil) -> StorageKeyDescriptor {
        StorageKeyDescriptor(
            name: key.name, domain: key.domain, security: key.security, serializer: key.serializer.format,
            valueType: String(describing: Value.self), owner: key.owner, description: key.description,
            availability: key.availability, syncPolicy: key.syncPolicy, lifetime: key.lifetime, catalog: catalog)
    }
}
