/// The keys of a container as a catalog: those of its settings, and that of its version.
///
/// Opening a container declares them by itself. The catalog is for lists: a manifest that tools read, or an app's own.
///
/// ```swift
/// let manifest = try CatalogManifest(MySettings.catalog).json()
/// ```
public struct ContainerCatalog: StorageKeyCatalog {
    /// The container's name.
    public let name: String
    /// The keys of the settings, in the order of their declaration, and that of the version.
    public let allKeys: [AnyStorageKey]

    init<Container: UserDefaultsContainer>(of type: Container.Type, in store: StorageDomain?) {
        let container = Container()
        let definition = ContainerDefinition(of: container, in: store)
        name = definition.name
        let version = StorageKey<Int>(
            name: definition.versionKey.name, domain: definition.store, security: definition.store.ownPolicy,
            owner: definition.name, description: "the version of the settings of \(definition.name)")
        allKeys =
            SettingsMirror(of: container).settings.map { $1.key(of: $0, in: definition) } + [AnyStorageKey(version)]
    }
}

extension UserDefaultsContainer {
    /// The container's keys in its own store.
    public static var catalog: ContainerCatalog { catalog() }

    /// The container's keys.
    ///
    /// - Parameter store: Where the settings are, if not in the type's own store.
    public static func catalog(in store: StorageDomain? = nil) -> ContainerCatalog {
        ContainerCatalog(of: Self.self, in: store)
    }
}
