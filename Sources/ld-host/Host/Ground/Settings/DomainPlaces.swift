package import LocalDataAPI

extension HostSettings {
    /// The namespace of a domain under this configuration: with defaults filled in and folders chosen.
    ///
    /// - Throws: `invalidAppGroupIdentifier`, `keychainError` or `invalidUserDefaultsSuite` if an identifier is missing
    ///   or invalid; `invalidAddress` for a folder that is not an absolute path.
    package func place(of domain: StorageDomain) throws(StorageError) -> StorageNamespace {
        let place: StorageNamespace
        switch domain {
        case .userDefaults(let suite):
            if let suite, suite.isEmpty || suite.utf8.contains(0) {
                throw StorageError(
                    .invalidUserDefaultsSuite, "the suite '\(suite)' is empty or contains a NUL byte",
                    hint: "name the suite, or leave it out for the app's own")
            }
            place = StorageNamespace(domain: domain.name, scope: suite ?? appID)
        case .appGroupUserDefaults(let identifier):
            let group = try self.group(identifier)
            place = StorageNamespace(
                domain: domain.name, scope: group, directory: "\(appGroupsFolder)/\(group)/userDefaults")
        case .keychain(let service):
            let service = service ?? keychainService ?? appID
            guard !service.isEmpty else {
                throw StorageError(
                    .keychainError, "the keychain key has no service, and there is no default",
                    hint: "name the service, as in keychain:SERVICE/NAME, or set keychain.service in the configuration")
            }
            place = StorageNamespace(domain: domain.name, scope: service)
        case .fileSystem(let directory), .encryptedFileSystem(let directory):
            place = try filePlace(domain.name, directory)
        case .appGroupFileSystem(let identifier, let directory):
            let group = try self.group(identifier)
            switch directory {
            case .custom: place = try filePlace(domain.name, directory)
            case .standard:
                throw StorageError(
                    .invalidAddress,
                    "a key of the app group '\(group)' names the folder of an app, '\(directory.scope)'",
                    hint: "use documents or caches, which are those of the group")
            case .documents, .caches:
                let folder = "\(appGroupsFolder)/\(group)/\(directory.scope)\(suffix)"
                place = StorageNamespace(
                    domain: domain.name, scope: "\(group):\(directory.scope)\(slashedSubDirectory)", directory: folder)
            }
        case .custom(let name, let scope):
            let folder = scope.flatMap { StandardFolder.Location(scope: $0) }.flatMap { cachesFolder(name, $0) }
            place = StorageNamespace(domain: name, scope: scope ?? "", directory: folder)
        }
        try place.validate()
        return place
    }

    private func filePlace(
        _ domain: String, _ directory: FileDirectory
    ) throws(StorageError) -> StorageNamespace {
        switch directory {
        case .documents: return try standardPlace(domain, .documents, of: appID)
        case .caches: return try standardPlace(domain, .caches, of: appID)
        case .standard(let folder, let app): return try standardPlace(domain, folder, of: app)
        case .custom:
            let scope = directory.scope
            guard scope.hasPrefix("/"), !scope.utf8.contains(0) else {
                throw StorageError(
                    .invalidAddress, "the folder '\(scope)' of a key in '\(domain)' is not an absolute path",
                    hint: "use an absolute file URL")
            }
            let folder = Self.normalized(scope)
            // A file of the plain domain is in the folder itself, where other programs look for it. File names of keys
            // there contain no upper-case letters, so they never collide with the folders of other domains.
            if domain == "fileSystem" { try requireNoOtherDomain(folder) }
            let own = domain == "fileSystem" ? folder : folder == "/" ? "/\(domain)" : "\(folder)/\(domain)"
            return StorageNamespace(domain: domain, scope: folder, directory: own)
        }
    }

    /// Requires that no other domain keeps its files in a folder of the user's own, in which those of the plain domain
    /// would be the same ones.
    ///
    /// - Throws: `invalidAddress`.
    private func requireNoOtherDomain(_ folder: String) throws(StorageError) {
        let others = ["encryptedFileSystem", "appGroupFileSystem"]
        let domain = others.first { folder.hasSuffix("/\($0)") }
        let isOfGroups = [appGroupsFolder, folders.cache].map(Self.normalized).contains { folder.hasPrefix("\($0)/") }
        guard domain != nil || isOfGroups else { return }
        throw StorageError(
            .invalidAddress,
            "the folder '\(folder)' of a key in 'fileSystem' is one in which "
                + (domain.map { "'\($0)' keeps values" } ?? "those of app groups, or caches, are kept"),
            hint: "use the other domain, or another folder")
    }

    private func standardPlace(
        _ domain: String, _ folder: StandardFolder, of app: String
    ) throws(StorageError) -> StorageNamespace {
        guard app.isEmpty || AppIdentifier.isValid(app) else {
            throw StorageError(
                .invalidAddress, "'\(app)' in a key of '\(domain)' is not the identifier of an app",
                hint: "use \(AppIdentifier.rule)")
        }
        let location = StandardFolder.Location(folder, of: app, subDirectory: subDirectory)
        return StorageNamespace(domain: domain, scope: location.scope, directory: cachesFolder(domain, location))
    }

    /// Where the files of a namespace are if they are caches; `nil` if the store chooses.
    private func cachesFolder(_ domain: String, _ location: StandardFolder.Location) -> String? {
        guard location.folder == .caches, ["fileSystem", "encryptedFileSystem"].contains(domain),
            location.app.map(AppIdentifier.isValid) ?? true
        else { return nil }
        let folder = location.app.map { "\(appCachesFolder)/\($0)" } ?? folders.cache
        return "\(folder)/\(domain)\(Self.suffix(of: location.subDirectory))"
    }

    /// Where the caches of apps are, in a folder for each.
    package var appCachesFolder: String { "\(folders.cache)/apps" }

    /// An absolute path without `.`, `..` and redundant slashes; symbolic links are not followed.
    package static func normalized(_ path: String) -> String {
        var names: [Substring.UTF8View] = []
        for name in Substring(path).utf8.split(separator: UInt8(ascii: "/")) {
            if name.elementsEqual("..".utf8) {
                _ = names.popLast()
            } else if !name.elementsEqual(".".utf8) {
                names.append(name)
            }
        }
        return "/" + names.map { String(Substring($0)) }.joined(separator: "/")
    }

    private var slashedSubDirectory: String { subDirectory.map { "/\($0)" } ?? "" }
    /// Distinguishes the folders of sub-directories from files in the folder itself.
    private static func suffix(of subDirectory: String?) -> String {
        subDirectory.map { "@" + $0.split(separator: "/").joined(separator: "%2F") } ?? ""
    }
    private var suffix: String { Self.suffix(of: subDirectory) }

    private func group(_ identifier: String?) throws(StorageError) -> String {
        guard let identifier = identifier ?? appGroup else {
            throw StorageError(
                .invalidAppGroupIdentifier, "the key has no app group, and there is no default",
                hint: "name the group in the key, or set appGroups.default in the configuration")
        }
        guard AppIdentifier.isValid(identifier) else {
            throw StorageError(
                .invalidAppGroupIdentifier, "'\(identifier)' is not an app group identifier",
                hint: "use \(AppIdentifier.rule)")
        }
        return identifier
    }
}
