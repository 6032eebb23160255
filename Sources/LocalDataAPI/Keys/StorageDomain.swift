/// Where a key's value belongs. The configuration maps the domain's name to a store, so the store is chosen at run
/// time.
///
/// What names no suite, service, group or folder belongs to the app: to its identity, which is
/// `StorageConfiguration.appIdentifier`, or else the setting `app.id`, or else the name of the app's executable.
/// Another app of the same user never sees it.
public enum StorageDomain: Hashable, Sendable {
    /// Preferences: many small values. `nil` is the app's own suite, which has the app's identifier as its name. Apps
    /// that name the same suite share it.
    case userDefaults(suite: String? = nil)
    /// Preferences shared by the apps of a group. `nil` stands for `StorageConfiguration.defaultAppGroupIdentifier`.
    case appGroupUserDefaults(identifier: String? = nil)
    /// Secrets. `nil` stands for `StorageConfiguration.defaultKeychainService`, or else for the app's identifier.
    case keychain(service: String? = nil)
    /// Values kept as files, in a folder of the app's own unless the directory names another.
    case fileSystem(directory: FileDirectory = .documents)
    /// Values kept as files that are always encrypted, in a folder of the app's own unless the directory names
    /// another.
    case encryptedFileSystem(directory: FileDirectory = .documents)
    /// Files shared by the apps of a group. `nil` stands for `StorageConfiguration.defaultAppGroupIdentifier`.
    case appGroupFileSystem(id: String? = nil, directory: FileDirectory = .documents)
    /// A plugin author's own domain. The name has letters, digits, `.`, `_` and `-`, at most 64 bytes. All apps share
    /// it, unless `scope` separates them.
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
        // The data of no app, which only the colon tells from the app's own.
        case .custom("userDefaults", .some("")): "\(name):"
        case .custom(_, let scope): Self.join(name, scope)
        }
    }

    private static func join(_ name: String, _ scope: String?) -> String {
        guard let scope, !scope.isEmpty else { return name }
        return "\(name):\(StorageAddress.escaped(scope: scope))"
    }
}

extension StorageDomain {
    /// The domain with this name and scope. For preferences and files, no scope means the app's own data, and an empty
    /// one that of no app.
    ///
    /// - Throws: `invalidAddress` if a folder is neither `documents`, `caches`, an app's, nor an absolute path.
    package init(name: String, scope: String?) throws(StorageError) {
        let given = scope.flatMap { $0.isEmpty ? nil : $0 }
        switch name {
        case "userDefaults" where scope?.isEmpty == true: self = .custom(name: name, scope: "")
        case "fileSystem" where scope?.isEmpty == true: self = .fileSystem(directory: .documents(of: ""))
        case "encryptedFileSystem" where scope?.isEmpty == true:
            self = .encryptedFileSystem(directory: .documents(of: ""))
        case "fileSystem", "encryptedFileSystem":
            // A sub-directory of an app's files, which the configuration of that app names.
            let location = given.flatMap { StandardFolder.Location(scope: $0) }
            if let location, location.subDirectory != nil {
                self = .custom(name: name, scope: location.scope)
            } else {
                let directory = try Self.directory(given, in: name)
                let isPlain = name == "fileSystem"
                self = isPlain ? .fileSystem(directory: directory) : .encryptedFileSystem(directory: directory)
            }
        case "userDefaults": self = .userDefaults(suite: given)
        case "appGroupUserDefaults": self = .appGroupUserDefaults(identifier: given)
        case "keychain": self = .keychain(service: given)
        case "appGroupFileSystem":
            let parts = (given ?? "").split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            self = .appGroupFileSystem(
                id: parts[0].isEmpty ? nil : String(parts[0]),
                directory: try Self.directory(parts.count > 1 ? String(parts[1]) : nil, in: name))
        default: self = .custom(name: name, scope: given)
        }
    }

    /// The domain of a namespace, in whose scope every default is filled in: where no app is named, it is none's.
    ///
    /// - Throws: As the other initializer.
    package init(name: String, filledIn scope: String) throws(StorageError) {
        let isFile = name == "fileSystem" || name == "encryptedFileSystem"
        // A folder of the user's own choosing is that of no group.
        let isChosen = name == "appGroupFileSystem" && scope.hasPrefix("/")
        try self.init(
            name: name, scope: isChosen || isFile && StandardFolder(rawValue: scope) != nil ? ":\(scope)" : scope)
    }

    /// The domain in an address without a name: `domain[:scope]`.
    ///
    /// - Throws: `invalidAddress` with what is wrong with the text.
    package init(address text: String) throws(StorageError) {
        let parts = try StorageAddress.parts(of: text)
        guard parts.name == nil else {
            throw StorageError(
                .invalidAddress, "'\(text)' has a name", hint: "write domain[:scope], for example userDefaults:suite")
        }
        self = try StorageDomain(name: parts.domain, scope: parts.scope)
    }

    private static func directory(_ scope: String?, in domain: String) throws(StorageError) -> FileDirectory {
        guard let scope, !scope.isEmpty else { return .documents }
        guard let directory = FileDirectory(scope: scope) else {
            throw StorageError(
                .invalidAddress, "'\(scope)' is not a folder of '\(domain)'",
                hint: "use documents, caches, or an absolute path with each / written %2F"
                    + (domain == "appGroupFileSystem" ? "" : "; APP:documents and APP:caches are those of an app"))
        }
        if case .standard = directory, domain == "appGroupFileSystem" {
            throw StorageError(
                .invalidAddress, "'\(scope)' is not a folder of '\(domain)'",
                hint: "use documents, caches, or an absolute path with each / written %2F")
        }
        return directory
    }
}

extension StorageKeyDescriptor {
    /// Describes the key at an address `domain[:scope]/name` that no catalog lists: its domain's default policy
    /// applies, and its values are raw bytes.
    ///
    /// - Throws: `invalidAddress` with what is wrong with the text.
    public init(address text: String) throws(StorageError) {
        let parts = try StorageAddress.parts(of: text)
        guard let name = parts.name, !name.isEmpty else {
            throw StorageError(
                .invalidAddress, "'\(text)' has no name",
                hint: "write domain[:scope]/name, for example userDefaults/theme")
        }
        self.init(name: name, domain: try StorageDomain(name: parts.domain, scope: parts.scope))
    }

    /// Describes the key with this name in a domain.
    package init(name: String, domain: StorageDomain) {
        self.init(
            name: name, domain: domain, security: domain.ownPolicy, serializer: .data, owner: "",
            description: "in no catalog")
    }
}

extension StorageDomain {
    /// Whether the domain is the data of the app that uses it, which another app does not get to see.
    package var belongsToApp: Bool {
        switch self {
        case .userDefaults(nil), .keychain(nil): true
        case .fileSystem(let directory), .encryptedFileSystem(let directory):
            directory == .documents || directory == .caches
        default: false
        }
    }

    /// The domain that names an app where this one means the app that uses it. A keychain's service is left to the
    /// configuration.
    ///
    /// - Parameter app: Empty for no app.
    package func ofApp(_ app: String) -> StorageDomain {
        guard !app.isEmpty, belongsToApp else { return self }
        return switch self {
        case .userDefaults: .userDefaults(suite: app)
        case .fileSystem(let directory): .fileSystem(directory: directory.ofApp(app))
        case .encryptedFileSystem(let directory): .encryptedFileSystem(directory: directory.ofApp(app))
        default: self
        }
    }

    /// The policy of a key that no catalog describes.
    package var ownPolicy: SecurityPolicy {
        switch name {
        case "encryptedFileSystem": .recommended
        case "keychain": .keychain(accessibility: .whenUnlocked)
        default: .none
        }
    }
}
