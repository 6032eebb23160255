/// Identifiers for keys that leave them out with `nil`.
public struct StorageConfiguration: Hashable, Sendable {
    /// The service of keychain keys; configuration `keychain.service`.
    public var defaultKeychainService: String?
    /// The group of app group keys; configuration `appGroups.default`.
    public var defaultAppGroupIdentifier: String?

    /// Creates a configuration; `nil` keeps the setting of the configuration files.
    public init(defaultKeychainService: String? = nil, defaultAppGroupIdentifier: String? = nil) {
        self.defaultKeychainService = defaultKeychainService
        self.defaultAppGroupIdentifier = defaultAppGroupIdentifier
    }
}
