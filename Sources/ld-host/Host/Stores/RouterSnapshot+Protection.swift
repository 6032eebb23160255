internal import LocalDataAPI
internal import Synchronization

/// How a key's values are protected here.
struct Protection: Sendable {
    /// How a policy is applied.
    enum Outcome: Sendable {
        /// These layers apply it to every value, innermost first.
        case layers([SealingLayer])
        /// It cannot be applied: values can be neither read nor written.
        case refused(StorageError)
    }

    var outcome: Outcome
    /// The part of the policy that cannot be enforced but is accepted, because the configuration calls it advisory.
    var advisory: String?
}

extension RouterSnapshot {
    /// How a key's values are protected in an open store. May wait.
    func protection(of security: SecurityPolicy, at address: StorageAddress, in open: OpenStore) -> Protection {
        let own = open.sealing.map { [$0.layer(for: address)] } ?? []
        do throws(StorageError) {
            if !settings.sealsMemory, open.isGoneWithProcess {
                try refusePlain(security, at: address)
                return Protection(outcome: .layers(own), advisory: "values are only in this process's memory")
            }
            let advisory = try self.advisory(security, at: address, in: open)
            guard let policy = encryption(for: security, in: address.place.domain) else {
                return Protection(outcome: .layers(own), advisory: advisory)
            }
            return Protection(outcome: .layers([try layer(policy, at: address)] + own), advisory: advisory)
        } catch {
            return Protection(outcome: .refused(error), advisory: nil)
        }
    }

    /// The encryption that a policy demands; `nil` for none.
    private func encryption(for security: SecurityPolicy, in domain: String) -> SecurityPolicy.EncryptionPolicy? {
        switch security {
        case .encrypted(let policy): policy
        // Whatever the key's policy, this domain encrypts.
        case .none, .keychain: domain == "encryptedFileSystem" ? .recommended : nil
        }
    }

    /// The part of a policy that is not enforced, if the configuration accepts that.
    ///
    /// - Throws: `securityApplicationFailed` if it does not.
    private func advisory(
        _ security: SecurityPolicy, at address: StorageAddress, in open: OpenStore
    ) throws(StorageError) -> String? {
        let domain = address.place.domain
        try refusePlain(security, at: address)
        guard case .keychain(let accessibility, let control) = security else { return nil }
        let properties = open.store.properties
        guard domain == "keychain" ? open.isKeychain : domain == "encryptedFileSystem" else {
            throw refusal(
                security, address, "no store here can do that",
                domain == "keychain"
                    ? "seal the store, e.g. ld-host config set stores.NAME.sealing keyFile, or map the domain "
                        + "to another store"
                    : "give the key the domain keychain or encryptedFileSystem, or the policy encrypted")
        }
        var advisory: [String] = []
        if let control, !properties.enforcedAccessControls.contains(control) {
            guard settings.isAccessControlAdvisory else {
                throw refusal(
                    security, address, "no store here can enforce '\(control.rawValue)'",
                    "remove the access control, or accept that it is not enforced: "
                        + "StorageConfiguration(accessControl: .advisory) with updateStorageConfiguration in the app, or "
                        + "ld-host config set keychain.accessControl advisory for all")
            }
            advisory.append("'\(control.rawValue)' is not enforced")
        }
        // A keychain that is sometimes locked protects values for `always` no less.
        let enforced = properties.enforcedAccessibilities.union([.always, .alwaysThisDeviceOnly])
        if !enforced.contains(accessibility) {
            guard settings.isAccessibilityAdvisory else {
                throw refusal(
                    security, address, "no store here knows whether the device is unlocked",
                    "use the accessibility 'always', or accept that it is not enforced: "
                        + "StorageConfiguration(accessibility: .advisory) with updateStorageConfiguration in the app, or "
                        + "ld-host config set keychain.accessibility advisory for all")
            }
            advisory.append("values can be read whenever this user's programs run")
        }
        return advisory.isEmpty ? nil : advisory.joined(separator: "; ")
    }

    /// - Throws: `securityApplicationFailed` for a key without a policy in the keychain.
    private func refusePlain(_ security: SecurityPolicy, at address: StorageAddress) throws(StorageError) {
        guard security == .none, address.place.domain == "keychain" else { return }
        throw StorageError(
            .securityApplicationFailed,
            "'\(address)' has security none in 'keychain', which never keeps plain values",
            hint: "give the key another policy, or another domain")
    }

    private func layer(
        _ policy: SecurityPolicy.EncryptionPolicy, at address: StorageAddress
    ) throws(StorageError) -> SealingLayer {
        do throws(StorageError) {
            switch policy {
            case .aes256(let derivation):
                return try rings.layer(for: address, style: EnvelopeStyle(.aes256GCM, style(derivation)))
            case .chacha20Poly1305(let derivation):
                return try rings.layer(for: address, style: EnvelopeStyle(.chaCha20Poly1305, style(derivation)))
            case .external(let source, let derivation):
                let style = EnvelopeStyle(.chaCha20Poly1305, try style(derivation))
                return SealingLayer(
                    keys: .external(source, keyName: address.name, of: providers),
                    envelope: Envelope(address, crypto: try crypto.openIfNeeded()), style: style,
                    limit: DerivationLimit(style.derivation, iterations: settings.encryption.iterations))
            }
        } catch {
            throw refusal(.encrypted(policy), address, error.message, error.hint)
        }
    }

    private func style(
        _ derivation: SecurityPolicy.KeyDerivation
    ) throws(StorageError) -> KeyDerivation {
        switch derivation {
        case .hkdf(let salt, let info): return .hkdf(salt: salt, info: info)
        case .pbkdf2(let iterations, let salt):
            let count = iterations ?? Int(settings.encryption.iterations)
            guard let count = UInt32(exactly: count), (1...EnvelopeDerivation.mostIterations).contains(count) else {
                throw StorageError(
                    .securityApplicationFailed,
                    "\(count) PBKDF2 iterations are configured; expected 1 to \(EnvelopeDerivation.mostIterations)",
                    hint: "600,000 is a good number")
            }
            return .pbkdf2(iterations: count, salt: salt)
        }
    }

    private func refusal(
        _ security: SecurityPolicy, _ address: StorageAddress, _ why: String, _ hint: String
    ) -> StorageError {
        StorageError(
            .securityApplicationFailed,
            "'\(address)' has the policy \(security), which cannot be applied: \(why); "
                + "nothing was read or written",
            hint: hint)
    }

    /// Whether an address of an open store belongs to the host: any of its own keychain service, a key ring, the key of
    /// a store's ring, or an entry of the list of rings. May wait.
    func isReserved(_ address: StorageAddress, in open: OpenStore) throws(StorageError) -> Bool {
        if isConfigured(address) || RingList.holds(address.place) { return true }
        guard address.place.domain == "keychain" else { return false }
        return try list(in: open).keepsAppsAway(from: address.place.scope, address.name)
    }

    /// Returns a function that recognizes the host's own names in a namespace, as of now. May wait.
    func reservedNames(
        in place: StorageNamespace, of open: OpenStore
    ) throws(StorageError) -> @Sendable (String) -> Bool {
        guard place.domain == "keychain" else { return { _ in false } }
        if place.scope == RingList.ownService { return { _ in true } }
        let list = list(in: open)
        let accounts = try list.accounts(of: place.scope)
        return { name in
            self.isConfigured(StorageAddress(place, name: name)) || accounts.contains(name)
                || list.wasLocked(place.scope, name)
        }
    }

    private func list(in open: OpenStore) -> RingList { RingList(open: open, folder: settings.folders.rings) }

    /// Whether the configuration reserves an address for the host.
    func isConfigured(_ address: StorageAddress) -> Bool {
        guard address.place.domain == "keychain" else { return false }
        func isKey(_ service: String, _ account: String) -> Bool {
            address.place.scope == service && address.name == account
        }
        if isKey(settings.encryption.service, settings.encryption.account) { return true }
        if isKey(HostSettings.Encryption.defaultService, HostSettings.Encryption.defaultAccount) { return true }
        return isStoreKey(address.place.scope, address.name)
    }

    /// Whether the configuration names a value of the keychain as the key of a store's ring.
    func isStoreKey(_ service: String, _ account: String) -> Bool {
        settings.stores.values.contains { $0.sealing?.source == .keychain(service: service, account: account) }
    }
}

/// One state of a router: settings, stores and registered keys. Immutable, and never freed once published, not even
/// with its router, so that readers need no lock and no reference count.
final class RouterSnapshot: Sendable {
    let settings: HostSettings
    let registry: PluginRegistry
    /// The keys that the app registered; if there are any, no others may be used.
    let catalog: CatalogIndex?
    /// The keys in manifests, for tools.
    let described: CatalogIndex
    /// The keys of opened containers and vaults.
    let declared: DeclaredKeys
    let log: any StorageLogHandler
    let crypto: CryptoSlot
    /// The rings of keys with an encryption policy.
    let rings: MasterRings
    let providers: KeyMaterialProviders
    /// Where values of keys have been.
    let places: PlaceHistory
    /// The migration packs, opened when a migration may be needed.
    let packs: [PackSlot]
    /// The sync transport, opened at the first sync.
    let transport: TransportSlot?
    /// The folders that a warning has named; see ``knownPlaces(of:in:)``.
    let passedOver = Mutex<Set<String>>([])
    private let opener: StoreOpener
    private let slots: [String: StoreSlot]

    init(
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
    }

    /// Identifies the snapshot for resolved keys; never used twice, since a published snapshot is never freed.
    var id: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

    /// The store that serves a domain.
    ///
    /// - Throws: `invalidConfiguration` if it has none.
    func slot(for domain: String) throws(StorageError) -> StoreSlot {
        guard let route = settings.routes[domain], let slot = slots[route.store.name] else {
            let known = settings.routes.keys.sorted().joined(separator: ", ")
            let near = ConfigurationName.mistypedDomain(domain).map { "did you mean '\($0)'?" }
            let isOwn = domain.lowercased().hasPrefix(HostSettings.reservedDomains)
            let hint = isOwn ? "what LocalData keeps for itself has no address" : near
            throw StorageError(
                .invalidConfiguration, "no store is mapped to the domain '\(domain)'; expected one of \(known)",
                hint: hint ?? "check the spelling, or run: \(routeCommand(domain))" + routeCall(domain))
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

    /// Whether a catalog has a key of this address: one that is registered, or that the configuration names. Keys of
    /// containers and vaults count, too.
    func isCatalogued(_ address: StorageAddress) -> Bool {
        catalog?.entries[address] != nil || described.entries[address] != nil || declared.contains(address, settings)
    }

    /// Every store that the configuration defines or maps a domain to, ordered by name.
    var stores: [StoreSlot] { slots.values.sorted { $0.settings.name < $1.settings.name } }
}

extension RouterSnapshot {
    /// The command that maps a domain to a store that keeps its values: the one of `userDefaults`, or else `sqlite`.
    func routeCommand(_ domain: String) -> String {
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
    func requireLasting(
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
    func checkDomains(_ domains: [String]) throws(StorageError) {
        for domain in domains where settings.routes[domain] == nil {
            let near = EditDistance.nearest(to: domain, in: settings.routes.keys.sorted(), within: 2)
            throw StorageError(
                .invalidAddress, "no store is mapped to the domain '\(domain)'",
                hint: near.map { "did you mean '\($0)'?" }
                    ?? "expected one of \(settings.routes.keys.sorted().joined(separator: ", "))")
        }
    }
}
