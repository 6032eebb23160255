package import LocalDataAPI

/// Something that was done with a key at a place.
package enum PlaceEvent: String, Codable, Sendable {
    /// A registered catalog lists the key here.
    case declared
    /// The key's value was found here, or the host has brought it here.
    case found
    /// A value was stored here.
    case set
    /// The key's value was removed here.
    case removed
    /// The value here was brought to another place. What is still here is older than what is there.
    case left
    /// One process uses the key here and a key of the same owner and name elsewhere, so they are two keys.
    case apart
}

/// A key, and a place that its value was at.
package struct PlaceEntry: Codable, Hashable, Sendable {
    /// The app that the key belongs to.
    let app: String
    package let owner: String
    package let name: String
    /// The value's type; empty if it is not known.
    package let type: String
    package let domain: String
    package let scope: String
    let directory: String?
    package let security: SecurityPolicy
    package let serializer: SerializerFormat
    /// Whether the key left its service, group or app to the configuration.
    let usesDefault: Bool

    package init(_ key: StorageKeyDescriptor, at place: StorageNamespace, of app: String) {
        self.app = app
        owner = key.owner
        name = key.name
        type = key.valueType
        domain = place.domain
        scope = place.scope
        directory = place.directory
        security = key.security
        serializer = key.serializer
        usesDefault = key.domain.usesDefault
    }

    package var place: StorageNamespace { StorageNamespace(domain: domain, scope: scope, directory: directory) }
    var key: PlaceHistory.Key { PlaceHistory.Key(app: app, owner: owner, name: name) }

    /// Whether a key that is now at `place`, the one of its domain, may have been here. With another suite, service,
    /// group or folder that the code names, it belongs to another profile, account or document: one never gets what
    /// another has.
    func mayHaveHeld(_ keyDomain: StorageDomain, now place: StorageNamespace) -> Bool {
        guard domain == place.domain else { return true }
        return self.place.named == place.named || usesDefault && keyDomain.usesDefault
    }
}

extension StorageNamespace {
    /// Whether it is the same place in the same folder.
    package func isSame(as other: StorageNamespace) -> Bool { self == other && directory == other.directory }

    /// The suite, service, group, or own folder, of which each has its own values; empty for a standard directory.
    fileprivate var named: Substring {
        switch domain {
        case _ where scope.hasPrefix("/"): scope[...]
        case "appGroupFileSystem": scope.prefix { $0 != ":" }
        case "fileSystem", "encryptedFileSystem": app?[...] ?? ""
        default: scope[...]
        }
    }
}

extension StorageDomain {
    /// Whether the configuration says which service or group it is.
    fileprivate var usesDefault: Bool {
        switch self {
        case .keychain(nil), .appGroupUserDefaults(nil), .appGroupFileSystem(nil, _): true
        default: false
        }
    }
}
