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
    /// Caches the key's resolutions.
    package let slot = KeyResolutionSlot()

    private let makeMigration: (@Sendable (StorageKey<Value>) -> AnyStorageMigration)?

    /// Declares a key. Without `security` the value is encrypted (`SecurityPolicy.recommended`).
    public init(
        name: String,
        domain: StorageDomain,
        security: SecurityPolicy = .recommended,
        serializer: Serializer<Value> = .json,
        owner: String,
        description: String,
        availability: PlatformAvailability = .all,
        syncPolicy: SyncPolicy = .never,
        migration: (@Sendable (StorageKey<Value>) -> AnyStorageMigration)? = nil
    ) {
        self.name = name
        self.domain = domain
        self.security = security
        self.serializer = serializer
        self.owner = owner
        self.description = description
        self.availability = availability
        self.syncPolicy = syncPolicy
        makeMigration = migration
    }

    /// The migration that brings older data to the key, if it has one.
    public var migration: AnyStorageMigration? { makeMigration?(self) }

    package var hasMigration: Bool { makeMigration != nil }
}
