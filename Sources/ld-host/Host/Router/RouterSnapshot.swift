internal import LocalDataAPI

/// One state of a router: settings, stores and registered keys. Immutable, and never freed once published, not even with
/// its router, so that readers need no lock and no count.
final class RouterSnapshot: Sendable {
    let settings: HostSettings
    let registry: PluginRegistry
    /// The keys that the app registered; only these may be used, if there are any.
    let catalog: CatalogIndex?
    /// The keys that manifests describe, for tools.
    let described: CatalogIndex
    let log: any StorageLogHandler
    private let slots: [String: StoreSlot]

    init(
        settings: HostSettings, registry: PluginRegistry, catalog: CatalogIndex?, described: CatalogIndex,
        log: any StorageLogHandler,
        slots: [String: StoreSlot]
    ) {
        self.settings = settings
        self.registry = registry
        self.catalog = catalog
        self.described = described
        self.log = log
        self.slots = slots
    }

    /// Identifies the snapshot for resolved keys; never used twice, since a published snapshot is never freed.
    var id: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

    /// The store that serves a domain.
    ///
    /// - Throws: `invalidConfiguration` if no store is mapped to it.
    func slot(for domain: String) throws(StorageError) -> StoreSlot {
        guard let route = settings.routes[domain], let slot = slots[route.store.name] else {
            let known = settings.routes.keys.sorted().joined(separator: ", ")
            throw StorageError(
                .invalidConfiguration, "no store is mapped to the domain '\(domain)'; mapped are \(known)",
                hint: "check the spelling, or run: ld-host config set domains.\(domain) COMPONENT")
        }
        return slot
    }

    /// Why a key's values can be neither read nor written here, if so.
    func refusal(of security: SecurityPolicy, at address: StorageAddress) -> StorageError? {
        let domain = address.place.domain
        let hint =
            domain == "keychain"
            ? "map the domain to a store that can, once one is installed"
            : "install a crypto provider, or declare the key with security: .none"
        switch security {
        case .none where domain == "encryptedFileSystem" || domain == "keychain":
            return StorageError(
                .securityApplicationFailed,
                "'\(address)' has security none in '\(domain)', which never keeps plain values",
                hint: "give the key another policy, or another domain")
        case .none: return nil
        case .encrypted:
            return StorageError(
                .securityApplicationFailed,
                "'\(address)' is to be \(security), and there is no crypto provider; nothing was read or written",
                hint: hint)
        case .keychain:
            return StorageError(
                .securityApplicationFailed,
                "'\(address)' is to be protected by \(security), and no store here does that; nothing was read or "
                    + "written",
                hint: hint)
        }
    }
}
