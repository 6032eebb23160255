/// A typed key: what is stored, where it belongs, how it is protected, and who owns it.
///
/// Declare keys once, as static members, and use them through a router:
///
/// ```swift
/// extension StorageKey where Value == String {
///     static let theme = StorageKey(
///         name: "theme", domain: .userDefaults(), security: .none, owner: "Appearance",
///         description: "The colour theme that the user chose.")
/// }
/// let theme = try await StorageRouter.shared.get(.theme)
/// ```
///
/// A key caches its resolution, so the second use needs no look-up. Keep a key rather than recreate it.
public struct StorageKey<Value: Codable & Sendable>: Sendable, CustomStringConvertible {
    /// The name in its domain: any UTF-8 without NUL, 1 to 1,024 bytes.
    public let name: String
    /// Where the value belongs.
    public let domain: StorageDomain
    /// How the value is protected.
    public let security: SecurityPolicy
    /// How the value becomes bytes.
    public let serializer: Serializer<Value>
    /// The owner: a module or a team.
    public let owner: String
    /// What the key is for, for people who audit what the app stores.
    public let description: String
    /// The devices that may use the key.
    public let availability: PlatformAvailability
    /// Whether the value is synchronized.
    public let syncPolicy: SyncPolicy
    /// How long a value stays after it was set: then it is absent. `nil` for ever. The store must offer expiry.
    public let lifetime: Duration?
    /// Caches the key's resolutions.
    package let slot = KeyResolutionSlot()

    /// Whether the key has a chain of versions.
    package let isChained: Bool
    /// The key's versions, if it has a migrator.
    package let chain: ValueChain<Value>?

    private let makeMigration: (@Sendable (StorageKey<Value>) -> AnyStorageMigration)?
    /// Makes one value of two that devices wrote without knowledge of each other, if the key has a way to do so.
    package let merge: (@Sendable (Value, Value) throws -> Value)?

    /// Declares a key. Without `security` the value is encrypted (`SecurityPolicy.recommended`).
    ///
    /// - Parameter merge: Makes one value of two that devices of a sync group wrote without knowledge of each other. It
    ///   gets the earlier and the later one, in this order on every device. Several devices may merge the same values,
    ///   and more than two in different orders: so the result must follow from the two values alone, be the same in
    ///   either order, and have in it what neither may lose. Of two values that it throws for, the later one wins, and
    ///   the other one is kept for a while, as without it.
    public init(
        name: String,
        domain: StorageDomain,
        security: SecurityPolicy = .recommended,
        serializer: Serializer<Value> = .json,
        owner: String,
        description: String,
        availability: PlatformAvailability = .all,
        syncPolicy: SyncPolicy = .never,
        lifetime: Duration? = nil,
        migration: (@Sendable (StorageKey<Value>) -> AnyStorageMigration)? = nil,
        merge: (@Sendable (Value, Value) throws -> Value)? = nil
    ) {
        self.init(
            name: name, domain: domain, security: security, serializer: serializer, owner: owner,
            description: description, availability: availability, syncPolicy: syncPolicy, lifetime: lifetime,
            chain: nil, migration: migration, merge: merge)
    }

    private init(
        name: String, domain: StorageDomain, security: SecurityPolicy, serializer: Serializer<Value>, owner: String,
        description: String, availability: PlatformAvailability, syncPolicy: SyncPolicy, lifetime: Duration?,
        chain: ValueChain<Value>?,
        migration: (@Sendable (StorageKey<Value>) -> AnyStorageMigration)?,
        merge: (@Sendable (Value, Value) throws -> Value)?
    ) {
        self.name = name
        self.domain = domain
        self.security = security
        self.serializer = serializer
        self.owner = owner
        self.description = description
        self.availability = availability
        self.syncPolicy = syncPolicy
        self.lifetime = lifetime
        self.chain = chain
        isChained = chain != nil
        makeMigration = migration
        self.merge = merge
    }

    /// The migration that brings older data to the key, if it has one.
    public var migration: AnyStorageMigration? { makeMigration?(self) }

    package var hasMigration: Bool { makeMigration != nil }
}

extension StorageKey where Value: Equatable {
    /// Declares a key whose value may be stored in an older version. Reading brings it to the current one and stores
    /// that, once; each value is stored with its version tag.
    ///
    /// - Parameters:
    ///   - migrator: The versions and their converters.
    ///   - ifUndecodable: What happens to a value that no version reads.
    ///   - merge: As for a key without versions; called for two values of the current version only.
    public init(
        name: String,
        domain: StorageDomain,
        security: SecurityPolicy = .recommended,
        serializer: Serializer<Value> = .json,
        owner: String,
        description: String,
        availability: PlatformAvailability = .all,
        syncPolicy: SyncPolicy = .never,
        lifetime: Duration? = nil,
        migrator: DataMigrator<Value>,
        ifUndecodable: UndecodablePolicy = .fail,
        migration: (@Sendable (StorageKey<Value>) -> AnyStorageMigration)? = nil,
        merge: (@Sendable (Value, Value) throws -> Value)? = nil
    ) {
        self.init(
            name: name, domain: domain, security: security, serializer: serializer, owner: owner,
            description: description, availability: availability, syncPolicy: syncPolicy, lifetime: lifetime,
            chain: ValueChain(migrator, serializer, ifUndecodable: ifUndecodable, of: "\(domain)/\(name)"),
            migration: migration, merge: merge)
    }
}
