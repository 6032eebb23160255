/// A typed key: what is stored, where it belongs, how it is protected, and who answers for it.
///
/// Keys are declared once, as static members, and used through a router:
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
/// A key remembers how it was resolved, so that a second use costs no look-up; keep it rather than make it anew.
public struct StorageKey<Value: Codable & Sendable>: Sendable, CustomStringConvertible {
    /// The name in its domain: any UTF-8 without NUL, 1 to 1,024 bytes.
    public let name: String
    /// Where the value belongs.
    public let domain: StorageDomain
    /// How it is protected.
    public let security: SecurityPolicy
    /// How it becomes bytes.
    public let serializer: Serializer<Value>
    /// Who answers for it: a module, a team.
    public let owner: String
    /// What it is, for people who audit what the app stores.
    public let description: String
    /// On which devices it may be used.
    public let availability: PlatformAvailability
    /// Whether it is synchronized.
    public let syncPolicy: SyncPolicy
    /// How a resolved key is found again.
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

    /// How older data comes to this key, if the key says so.
    public var migration: AnyStorageMigration? { makeMigration?(self) }

    package var hasMigration: Bool { makeMigration != nil }
}
