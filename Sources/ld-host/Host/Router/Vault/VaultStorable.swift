public import LocalDataAPI

/// Declares what is stored, where, and how older versions of it become the current one.
///
/// ```swift
/// struct UserSettingsStorage: VaultStorable {
///     typealias Value = UserSettingsV2
///     static let defaultValue = UserSettingsV2(theme: "light", notifications: true)
///
///     static func configure(builder: DataMigrator<UserSettingsV2>.Builder) {
///         builder.register(from: UserSettingsV1.self, to: UserSettingsV2.self) { v1 in
///             UserSettingsV2(theme: v1.theme, notifications: true)
///         }
///     }
/// }
/// ```
///
/// Only the default value is required. The name stays the same over all versions: a name with a version in it would be
/// another value, and lose the old one.
public protocol VaultStorable {
    /// The current version of the value.
    associatedtype Value: Codable & Sendable & Equatable

    /// The name of the value; by default the name of this type.
    static var key: String { get }
    /// The value while nothing is stored.
    static var defaultValue: Value { get }
    /// Where the value belongs; by default the app's own preferences, which no other app sees.
    static var domain: StorageDomain { get }
    /// How the value is protected; encrypted by default.
    static var security: SecurityPolicy { get }
    /// How the value becomes bytes; JSON by default.
    static var serializer: Serializer<Value> { get }
    /// What happens to a stored value that no version reads; by default it goes to quarantine, and the default value is
    /// used.
    static var ifUndecodable: UndecodablePolicy { get }
    /// Registers the converters from older versions; none by default.
    static func configure(builder: DataMigrator<Value>.Builder)
}

extension VaultStorable {
    /// The name of this type.
    public static var key: String { String(describing: Self.self) }
    /// The app's own preferences.
    public static var domain: StorageDomain { .userDefaults() }
    /// Encrypted.
    public static var security: SecurityPolicy { .recommended }
    /// JSON.
    public static var serializer: Serializer<Value> { .json }
    /// Quarantine, and the default value.
    public static var ifUndecodable: UndecodablePolicy { .quarantine }
    /// No older versions.
    public static func configure(builder: DataMigrator<Value>.Builder) {}

    /// The key that stores the value. Keep it rather than ask for it again.
    ///
    /// - Throws: `MigrationError` if the converters contradict each other; see `DataMigrator.Builder.build()`.
    public static func storageKey() throws(MigrationError) -> StorageKey<Value> {
        let builder = DataMigrator<Value>.Builder(targetType: Value.self)
        configure(builder: builder)
        return StorageKey(
            name: key, domain: domain, security: security, serializer: serializer, owner: String(describing: Self.self),
            description: "the value of \(Self.self)", migrator: try builder.build(), ifUndecodable: ifUndecodable)
    }
}

extension AnyStorageKey {
    /// The key of a vault, for a catalog that lists it by hand: `.key(ProfileStorage.self)`.
    ///
    /// Converters that contradict each other are no matter of a list: reading and ``VaultStorable/storageKey()`` report
    /// them.
    public static func key<Storage: VaultStorable>(_ storage: Storage.Type) -> AnyStorageKey {
        if let key = try? storage.storageKey() { return AnyStorageKey(key) }
        return AnyStorageKey(
            StorageKey(
                name: storage.key, domain: storage.domain, security: storage.security, serializer: storage.serializer,
                owner: String(describing: storage), description: "the value of \(storage)"))
    }
}
