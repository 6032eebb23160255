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
