#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

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

extension StorageDomain {
    /// The domain with this name and scope.
    ///
    /// - Throws: `invalidAddress` if a folder is neither `documents`, `caches` nor an absolute path.
    package init(name: String, scope: String?) throws(StorageError) {
        let given = scope.flatMap { $0.isEmpty ? nil : $0 }
        switch name {
        case "userDefaults": self = .userDefaults(suite: given)
        case "appGroupUserDefaults": self = .appGroupUserDefaults(identifier: given)
        case "keychain": self = .keychain(service: given)
        case "fileSystem": self = .fileSystem(directory: try Self.directory(given, in: name))
        case "encryptedFileSystem": self = .encryptedFileSystem(directory: try Self.directory(given, in: name))
        case "appGroupFileSystem":
            let parts = (given ?? "").split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            self = .appGroupFileSystem(
                id: parts[0].isEmpty ? nil : String(parts[0]),
                directory: try Self.directory(parts.count > 1 ? String(parts[1]) : nil, in: name))
        default: self = .custom(name: name, scope: given)
        }
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
    /// The policy of a key that no catalog describes.
    package var ownPolicy: SecurityPolicy {
        switch self {
        case .userDefaults, .appGroupUserDefaults, .fileSystem, .appGroupFileSystem, .custom: .none
        case .encryptedFileSystem: .recommended
        case .keychain: .keychain(accessibility: .whenUnlocked)
        }
    }
}

/// The folder that a file-system domain keeps its values in.
public enum FileDirectory: Hashable, Sendable {
    /// Data that the user would miss: below `$XDG_DATA_HOME`.
    case documents
    /// Data that the app can recreate: below `$XDG_CACHE_HOME`, where cleaners may delete it.
    case caches
    /// A folder of the app's own, by an absolute file URL.
    case custom(URL)
}

extension FileDirectory {
    /// The folder's part of an address: `documents`, `caches`, or the absolute path.
    package var scope: String {
        switch self {
        case .documents: "documents"
        case .caches: "caches"
        case .custom(let url): url.path(percentEncoded: false)
        }
    }

    /// The folder with this scope; `nil` if the scope names none.
    package init?(scope: String) {
        switch scope {
        case "documents": self = .documents
        case "caches": self = .caches
        default:
            guard scope.hasPrefix("/") else { return nil }
            self = .custom(URL(filePath: scope))
        }
    }
}
