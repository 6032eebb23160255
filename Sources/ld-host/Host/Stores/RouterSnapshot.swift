package import HostGround
package import HostPlugins
internal import HostSealing
package import LocalDataAPI
internal import Synchronization

/// One state of a router: settings, stores and registered keys. Immutable, and never freed once published, not even
/// with its router, so that readers need no lock and no reference count.
package final class RouterSnapshot: Sendable {
    package let settings: HostSettings
    package let registry: PluginRegistry
    /// The keys that the app registered; if there are any, no others may be used.
    package let catalog: CatalogIndex?
    /// The keys in manifests, for tools.
    package let described: CatalogIndex
    /// The keys of opened containers and vaults.
    package let declared: DeclaredKeys
    package let log: any StorageLogHandler
    package let crypto: CryptoSlot
    /// The rings of keys with an encryption policy.
    package let rings: MasterRings
    let providers: KeyMaterialProviders
    /// Where values of keys have been.
    package let places: PlaceHistory
    /// The migration packs, opened when a migration may be needed.
    package let packs: [PackSlot]
    /// The sync transport, opened at the first sync.
    package let transport: TransportSlot?
    /// For each domain the stores that served it before, and may still have values of it.
    let formerStores: [String: [String]]
    /// Those of them that were found to have none.
    let emptied = Mutex<Set<RouteHistory.Left>>([])
    /// The folders that a warning has named; see ``knownPlaces(of:in:)``.
    let passedOver = Mutex<Set<String>>([])
    private let opener: StoreOpener
    private let slots: [String: StoreSlot]

    package init(
        settings: HostSettings, registry: PluginRegistry, catalog: CatalogIndex?, described: CatalogIndex,
        declared: DeclaredKeys, log: any StorageLogHandler, crypto: CryptoSlot, rings: MasterRings,
        providers: KeyMaterialProviders, places: PlaceHistory, packs: [PackSlot], transport: TransportSlot?,
        opener: StoreOpener,
        slots: [String: StoreSlot]
    ) {
        self.settings = settings
        self.registry = registry
        self.catalog = catalog
        self.described = described
        self.declared = declared
        self.log = log
        self.crypto = crypto
        self.rings = rings
        self.providers = providers
        self.places = places
        self.packs = packs
        self.transport = transport
        self.opener = opener
        self.slots = slots
        formerStores = RouteHistory(settings.folders).formerRoutes
    }

    /// Identifies the snapshot for resolved keys; never used twice, since a published snapshot is never freed.
    package var id: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

    /// - Throws: ``StorageError/superseded`` if another store serves one of the domains by now.
    package func requireCurrent() throws(StorageError) { try opener.marks.require(settings.routes) }

    /// The store that serves a domain.
    ///
    /// - Throws: `invalidConfiguration` if it has none.
    package func slot(for domain: String) throws(StorageError) -> StoreSlot {
        guard let route = settings.routes[domain], let slot = slots[route.store.name] else {
            let known = settings.routes.keys.sorted().joined(separator: ", ")
            let near = ConfigurationName.mistypedDomain(domain).map { "did you mean '\($0)'?" }
            let isOwn = domain.lowercased().hasPrefix(HostSettings.reservedDomains)
            let hint = isOwn ? "what LocalData keeps for itself has no address" : near
            throw StorageError(
                .invalidConfiguration, "no store is mapped to the domain '\(domain)'; expected one of \(known)",
                hint: hint ?? "check the spelling, or run: \(routeCommand(domain))" + routeCall(domain))
        }
        if let refusal = settings.refusals[domain] { throw refusal }
        return slot
    }

    /// A store that the configuration defines or maps a domain to.
    package func slot(ofStore name: String) -> StoreSlot? { slots[name] }

    /// A configured store, or else the component of that name with its defaults.
    package func slotOrComponent(_ name: String) -> StoreSlot {
        if let slot = slots[name] { return slot }
        let store = HostSettings.Store(
            name: name, component: name, options: [:], origin: "the store's name", concurrency: 48,
            timeout: .seconds(60),
            sealing: nil)
        return opener.slot(for: store, keychain: nil)
    }

    /// Whether a catalog has a key of this address: one that is registered, or that the configuration names. Keys of
    /// containers and vaults count, too.
    package func isCatalogued(_ address: StorageAddress) -> Bool {
        catalog?.entries[address] != nil || described.entries[address] != nil || declared.contains(address, settings)
    }

    /// Every store that the configuration defines or maps a domain to, ordered by name.
    package var stores: [StoreSlot] { slots.values.sorted { $0.settings.name < $1.settings.name } }
}

extension RouterSnapshot {
    /// The command that maps a domain to a store that keeps its values: the one of `userDefaults`, or else `sqlite`.
    package func routeCommand(_ domain: String) -> String {
        let usual = settings.routes["userDefaults"]?.store
        let store = usual.flatMap { $0.component == "memory" ? nil : $0.name } ?? "sqlite"
        return ConfigurationPath.command(mapping: domain, to: store)
    }

    /// How an app's code maps a domain to a store; empty for a command.
    private func routeCall(_ domain: String) -> String {
        settings.endsAfterCommand
            ? "" : "; or in code: try await router.configure(\"domains.\(domain)\", \"memory\"), or another store"
    }

    /// - Throws: `unsupported` if the value at `address` would move from store `source` into memory that is gone when
    ///   this command ends.
    package func requireLasting(
        _ destination: OpenStore, for address: StorageAddress, in source: OpenStore
    ) throws(StorageError) {
        guard settings.endsAfterCommand, destination.isGoneWithProcess, !source.isGoneWithProcess else { return }
        throw StorageError(
            .unsupported,
            "'\(address)' in store '\(source.name)' would move to store '\(destination.name)', which keeps values only "
                + "while a program runs; it stays where it is",
            hint: "map the destination's domain to a store that keeps values")
    }

    /// - Throws: `invalidAddress` for a domain without a store.
    package func checkDomains(_ domains: [String]) throws(StorageError) {
        for domain in domains where settings.routes[domain] == nil {
            let near = EditDistance.nearest(to: domain, in: settings.routes.keys.sorted(), within: 2)
            throw StorageError(
                .invalidAddress, "no store is mapped to the domain '\(domain)'",
                hint: near.map { "did you mean '\($0)'?" }
                    ?? "expected one of \(settings.routes.keys.sorted().joined(separator: ", "))")
        }
    }
}
