/// Identifiers that keys leave out by saying `nil`.
public struct StorageConfiguration: Hashable, Sendable {
    /// The service of keychain keys; configuration `keychain.service`.
    public var defaultKeychainService: String?
    /// The group of app group keys; configuration `appGroups.default`.
    public var defaultAppGroupIdentifier: String?

    /// Creates a configuration; `nil` leaves what configuration files say.
    public init(defaultKeychainService: String? = nil, defaultAppGroupIdentifier: String? = nil) {
        self.defaultKeychainService = defaultKeychainService
        self.defaultAppGroupIdentifier = defaultAppGroupIdentifier
    }
}
