/// Where a key's value belongs. The configuration maps the domain's name to a store, so the store is chosen at run
/// time.
public enum StorageDomain: Hashable, Sendable {
    /// Preferences: many small values. `suite` separates apps or modules; `nil` is the app's own suite.
    case userDefaults(suite: String? = nil)
    /// Preferences shared by the apps of a group. `nil` stands for `StorageConfiguration.defaultAppGroupIdentifier`.
    case appGroupUserDefaults(identifier: String? = nil)
    /// Secrets. `nil` stands for `StorageConfiguration.defaultKeychainService`.
    case keychain(service: String? = nil)
    /// Values kept as files.
    case fileSystem(directory: FileDirectory = .documents)
    /// Values kept as files that are always encrypted.
    case encryptedFileSystem(directory: FileDirectory = .documents)
    /// Files shared by the apps of a group. `nil` stands for `StorageConfiguration.defaultAppGroupIdentifier`.
    case appGroupFileSystem(id: String? = nil, directory: FileDirectory = .documents)
    /// A plugin author's own domain. The name has letters, digits, `.`, `_` and `-`, at most 64 bytes.
    case custom(name: String, scope: String? = nil)
}

extension StorageDomain {
    /// The domain's name, as configuration files and addresses spell it.
    public var name: String {
        switch self {
        case .userDefaults: "userDefaults"
        case .appGroupUserDefaults: "appGroupUserDefaults"
        case .keychain: "keychain"
        case .fileSystem: "fileSystem"
        case .encryptedFileSystem: "encryptedFileSystem"
        case .appGroupFileSystem: "appGroupFileSystem"
        case .custom(let name, _): name
        }
    }

    /// The names of the domains that every host knows.
    public static let standardNames = [
        "userDefaults", "appGroupUserDefaults", "keychain", "fileSystem", "encryptedFileSystem", "appGroupFileSystem",
    ]
}

extension StorageDomain: CustomStringConvertible {
    /// The domain and its scope as in an address, e.g. `keychain:com.example`; `/` and `%` in a scope are escaped.
    public var description: String {
        switch self {
        case .userDefaults(let suite): Self.join(name, suite)
        case .appGroupUserDefaults(let identifier): Self.join(name, identifier)
        case .keychain(let service): Self.join(name, service)
        case .fileSystem(let directory), .encryptedFileSystem(let directory): Self.join(name, directory.scope)
        case .appGroupFileSystem(let id, let directory): Self.join(name, "\(id ?? ""):\(directory.scope)")
        case .custom(_, let scope): Self.join(name, scope)
        }
    }

    private static func join(_ name: String, _ scope: String?) -> String {
        guard let scope, !scope.isEmpty else { return name }
        return "\(name):\(StorageAddress.escaped(scope: scope))"
    }
}
