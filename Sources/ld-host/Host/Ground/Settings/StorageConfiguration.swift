/// What an app says of itself, and the identifiers for keys that leave them out with `nil`.
public struct StorageConfiguration: Hashable, Sendable {
    /// How to treat keys whose policy no store here can enforce.
    public enum Enforcement: Hashable, Sendable {
        /// They are served, and audits say that the policy is not enforced; in configuration files `advisory`.
        case advisory
        /// They are refused with `securityApplicationFailed`; in configuration files `refuse`.
        case enforced

        /// The word in configuration files.
        package var setting: String {
            switch self {
            case .advisory: "advisory"
            case .enforced: "refuse"
            }
        }
    }

    /// The identity that the app's data belongs to: 1 to 200 letters, digits, `.`, `-` and `_`, not starting with `.`.
    /// Without it, that is the setting `app.id`, or else the name of the executable. Programs of one app that share its
    /// data have the same one, and so has an app whose executable gets another name. Empty for the data of no app.
    public var appIdentifier: String?
    /// The app's version, for migrations that depend on it; configuration `app.version`.
    public var appVersion: String?
    /// The app version assumed for data that records none; configuration `migrations.dataVersion`.
    public var dataVersion: String?
    /// The service of keychain keys; configuration `keychain.service`. Without it, the app's identifier.
    public var defaultKeychainService: String?
    /// The group of app group keys; configuration `appGroups.default`.
    public var defaultAppGroupIdentifier: String?
    /// How to treat keys whose accessibility no store enforces; configuration `keychain.accessibility`.
    public var accessibility: Enforcement?
    /// How to treat keys with an access control, such as `.biometryAny`; configuration `keychain.accessControl`.
    public var accessControl: Enforcement?

    /// Creates a configuration; `nil` keeps the setting of the configuration files.
    public init(
        appIdentifier: String? = nil, appVersion: String? = nil, dataVersion: String? = nil,
        defaultKeychainService: String? = nil, defaultAppGroupIdentifier: String? = nil,
        accessibility: Enforcement? = nil, accessControl: Enforcement? = nil
    ) {
        self.appIdentifier = appIdentifier
        self.appVersion = appVersion
        self.dataVersion = dataVersion
        self.defaultKeychainService = defaultKeychainService
        self.defaultAppGroupIdentifier = defaultAppGroupIdentifier
        self.accessibility = accessibility
        self.accessControl = accessControl
    }
}
