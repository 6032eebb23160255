internal import LocalDataAPI

/// One state of a router: settings, stores and registered keys. Immutable, and never freed once published, not even
/// with its router, so that readers need no lock and no reference count.
final class RouterSnapshot: Sendable {
    let settings: HostSettings
    let registry: PluginRegistry
    /// The keys that the app registered; if there are any, no others may be used.
    let catalog: CatalogIndex?
    /// The keys in manifests, for tools.
    let described: CatalogIndex
    let log: any StorageLogHandler
    let crypto: CryptoSlot
    /// The rings of keys with an encryption policy.
    let rings: MasterRings
    let providers: KeyMaterialProviders
    /// The migration packs, opened when a migration may be needed.
    let packs: [PackSlot]
    private let opener: StoreOpener
    private let slots: [String: StoreSlot]

    init(
        settings: HostSettings, registry: PluginRegistry, catalog: CatalogIndex?, described: CatalogIndex,
        log: any StorageLogHandler, crypto: CryptoSlot, rings: MasterRings, providers: KeyMaterialProviders,
        packs: [PackSlot], opener: StoreOpener, slots: [String: StoreSlot]
    ) {
        self.settings = settings
        self.registry = registry
        self.catalog = catalog
        self.described = described
        self.log = log
        self.crypto = crypto
        self.rings = rings
        self.providers = providers
        self.packs = packs
        self.opener = opener
        self.slots = slots
    }

    /// Identifies the snapshot for resolved keys; never used twice, since a published snapshot is never freed.
    var id: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

    /// The store that serves a domain.
    ///
    /// - Throws: `invalidConfiguration` if it has none.
    func slot(for domain: String) throws(StorageError) -> StoreSlot {
        guard let route = settings.routes[domain], let slot = slots[route.store.name] else {
            let known = settings.routes.keys.sorted().joined(separator: ", ")
            throw StorageError(
                .invalidConfiguration, "no store is mapped to the domain '\(domain)'; expected one of \(known)",
                hint: "check the spelling, or run: ld-host config set domains.\(domain) COMPONENT")
        }
        return slot
    }

    /// A store that the configuration defines or maps a domain to.
    func slot(ofStore name: String) -> StoreSlot? { slots[name] }

    /// A configured store, or else the component of that name with its defaults.
    func slotOrComponent(_ name: String) -> StoreSlot {
        if let slot = slots[name] { return slot }
        let store = HostSettings.Store(
            name: name, component: name, options: [:], origin: "the store's name", concurrency: 48,
            timeout: .seconds(60),
            sealing: nil)
        return opener.slot(for: store, keychain: nil)
    }

    /// Every store that the configuration defines or maps a domain to, ordered by name.
    var stores: [StoreSlot] { slots.values.sorted { $0.settings.name < $1.settings.name } }
}
