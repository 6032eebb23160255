internal import ByteCoding
internal import FoundationEssentials
package import HostGround
package import HostPlugins
package import LocalDataAPI

/// Opens stores as configured: component, options, sealing.
package struct StoreOpener: Sendable {
    package let settings: HostSettings
    package let registry: PluginRegistry
    package let log: any StorageLogHandler
    let crypto: CryptoSlot
    let providers: KeyMaterialProviders
    let marks: ServingMarks

    package init(
        settings: HostSettings,
        registry: PluginRegistry,
        log: any StorageLogHandler,
        crypto: CryptoSlot,
        providers: KeyMaterialProviders,
        marks: ServingMarks
    ) {
        self.settings = settings
        self.registry = registry
        self.log = log
        self.crypto = crypto
        self.providers = providers
        self.marks = marks
    }

    /// The slot of a store: the known one if it still opens what is configured.
    ///
    /// - Parameters:
    ///   - keychain: The keychain domain's store, if it is another one.
    ///   - known: The slot of an earlier configuration with the same settings of the store.
    package func slot(for store: HostSettings.Store, keychain: StoreSlot?, reusing known: StoreSlot? = nil) -> StoreSlot
    {
        let open = opening(store, keychain: keychain)
        if let known, known.adopt(settings.folders, open) { return known }
        return StoreSlot(settings: store, folders: settings.folders, open: open)
    }

    /// How a store is opened; with a store that is open already, how it is opened once more, frozen.
    private func opening(
        _ store: HostSettings.Store, keychain: StoreSlot?
    ) -> @Sendable (OpenStore?) throws(StorageError) -> OpenStore {
        { (known) throws(StorageError) in
            let image = try registry.plugin(offering: store.component, kind: .storage)
            let component = try image.component(store.component, .storage)
            let resolver = OptionResolver(component: component, folders: settings.folders)
            if let known { return try freeze(known, store, image, resolver, keychain) }
            let options = try resolver.resolve(store)
            log(.debug, "router", "opening store '\(store.name)' with component '\(store.component)' of \(image.path)")
            if let refusal = registry.refusedFile(insteadOf: image) {
                log(.warning, "plugins", "store '\(store.name)' is served by this program itself: \(refusal.message)")
            }
            do throws(StorageError) {
                let opened = try image.openStore(
                    store.component, options: options, secrets: secrets(of: store, in: keychain),
                    host: HostTable.shared(for: log), mark: marks.mark(of: store))
                let isForgotten = store.sealing == nil && (try? StoreSealing.hasRing(in: opened)) == true
                if isForgotten, !isSealed(options.identity, of: store.component, resolver) {
                    log(.warning, "router", StoreSealing.warning(of: store.name))
                }
                let identity = [store.component, String(decoding: options.identity, as: UTF8.self)]
                return OpenStore(
                    name: store.name, store: opened, plugin: image.path, component: store.component,
                    identity: StableHash.of(identity), location: resolver.location(of: store),
                    sealing: try sealing(of: store, opened, identity, keychain), hasForgottenSealing: isForgotten,
                    concurrency: store.concurrency, timeout: store.timeout)
            } catch {
                throw StorageError(
                    error.code, "store '\(store.name)' cannot be opened: \(error.message)", hint: error.hint)
            }
        }
    }

    /// The component's option for a store that changes nothing, and shows its values as of one moment, or as no batch
    /// changes them.
    static let frozenOption = "frozen"

    /// A second instance of an open store, which is frozen; the store itself if its component cannot do that.
    private func freeze(
        _ known: OpenStore, _ store: HostSettings.Store, _ image: PluginImage, _ resolver: OptionResolver,
        _ keychain: StoreSlot?
    ) throws(StorageError) -> OpenStore {
        let option = resolver.component.options.first { $0.name == Self.frozenOption && $0.type == .boolean }
        guard option != nil else { return known }
        let frozen = HostSettings.Store(
            name: store.name, component: store.component,
            options: store.options.merging([Self.frozenOption: .boolean(true)]) { $1 }, origin: store.origin,
            concurrency: store.concurrency, timeout: store.timeout, sealing: store.sealing)
        do throws(StorageError) {
            let opened = try image.openStore(
                store.component, options: try resolver.resolve(frozen), secrets: secrets(of: store, in: keychain),
                host: HostTable.shared(for: log))
            return OpenStore(frozen: opened, of: known)
        } catch {
            throw StorageError(
                error.code, "the values of store '\(store.name)' cannot be read as of one moment: \(error.message)",
                hint: error.hint)
        }
    }

    /// Whether a store with these options has sealing under another name.
    private func isSealed(_ identity: Data, of component: String, _ resolver: OptionResolver) -> Bool {
        settings.stores.values.contains {
            $0.sealing != nil && $0.component == component && (try? resolver.resolve($0))?.identity == identity
        }
    }

    /// Reads the secrets among a store's options.
    private func secrets(of store: HostSettings.Store, in keychain: StoreSlot?) -> SecretLookup {
        guard settings.routes["keychain"]?.store.name != store.name else {
            return { (_) throws(StorageError) in
                throw StorageError(
                    .invalidConfiguration, "the store '\(store.name)' serves the keychain itself",
                    hint: "let another store serve the keychain, or keep the secret in a file")
            }
        }
        return secrets(in: keychain)
    }

    /// Reads secrets among options in the keychain that a store serves.
    package func secrets(in keychain: StoreSlot?) -> SecretLookup {
        let value = Self.keychain(keychain, folder: settings.folders.rings)
        return { [settings] (address) throws(StorageError) in
            let key = try StorageKeyDescriptor(address: address)
            let found = try value(settings.place(of: key.domain).scope, key.name)
            guard try !found.list.keepsAppsAway(from: found.service, found.account) else {
                throw StorageError(
                    .securityApplicationFailed, "it is a key of the host", hint: "name the value that holds the secret")
            }
            guard let bytes = try found.load(nil) else { return nil }
            // A key of an app makes JSON of text, unless it says otherwise.
            let format = try found.value.attributes()?.serializer
            return format == SerializerFormat.json.rawValue ? try Self.text(inJSON: bytes) ?? bytes : bytes
        }
    }

    /// The text that a JSON string is; `nil` for other bytes.
    private static func text(inJSON bytes: SecretBytes) throws(StorageError) -> SecretBytes? {
        let decoded = bytes.withBytes { try? JSONDecoder().decode(String.self, from: Data($0)) }
        guard let text = decoded else { return nil }
        return try SecretBytes(count: text.utf8.count) { $0.copyBytes(from: text.utf8) }
    }

    private func sealing(
        of store: HostSettings.Store, _ opened: LoadedStore, _ identity: [String], _ keychain: StoreSlot?
    ) throws(StorageError) -> StoreSealing? {
        guard let sealing = store.sealing else { return nil }
        if case .keychain = sealing.source, keychain == nil {
            throw StorageError(
                .invalidConfiguration,
                "it cannot be sealed with a key from the keychain, because it serves the keychain itself: the key "
                    + "would be in what it locks",
                hint: "choose another sealing.source, or let another store serve the keychain")
        }
        let source = KeySource(
            source: sealing.source, store: store.name, folder: settings.folders.rings,
            crypto: try crypto.openIfNeeded(), providers: providers,
            keychain: Self.keychain(keychain, folder: settings.folders.rings))
        return try StoreSealing(
            store: opened, settings: sealing, source: source,
            file: "\(settings.folders.rings)/ring-\(StableHash.text(["store"] + identity))",
            keyLength: settings.encryption.keyLength, timeout: store.timeout)
    }

    /// Access to values of the keychain domain, for the host's own keys.
    ///
    /// - Parameter folder: The folder of the rings' locks.
    package static func keychain(
        _ slot: StoreSlot?, folder: String
    ) -> @Sendable (_ service: String, _ account: String) throws(StorageError) -> KeychainValue {
        { (service, account) throws(StorageError) in
            guard let slot else {
                throw StorageError(
                    .invalidConfiguration, "no store is mapped to the domain 'keychain', which keeps the keys",
                    hint: "run: ld-host config set domains.keychain sealed-files")
            }
            let open = try slot.openIfNeeded()
            guard open.isKeychain else {
                throw StorageError(
                    .securityApplicationFailed,
                    "the store '\(open.name)' of the domain 'keychain' keeps plain values, so it cannot hold keys",
                    hint: "seal the store, or map the domain to another store: "
                        + "ld-host config set domains.keychain sealed-files")
            }
            let place = StorageNamespace(domain: "keychain", scope: service)
            let address = StorageAddress(place, name: account)
            try address.validate()
            let value = try SealedValue(
                at: address, in: open, layers: open.sealing.map { [$0.layer(for: address)] } ?? [])
            return KeychainValue(
                list: RingList(open: open, folder: folder), service: service, account: account, value: value)
        }
    }
}

/// Identifies a configured store across snapshots, so that a store whose configuration is unchanged stays open.
package struct SlotKey: Hashable {
    private let store: HostSettings.Store
    /// For stores that need the keychain to be opened: for the key that seals them, or for a secret.
    private let keychain: HostSettings.Store?
    private let keyLength: Int?
    private let provider: String?

    package init(_ store: HostSettings.Store, keychain: HostSettings.Store?, _ settings: HostSettings) {
        self.store = store
        let isSealedByKeychain = if case .keychain? = store.sealing?.source { true } else { false }
        self.keychain = isSealedByKeychain || Self.mayHaveSecret(store.options) ? keychain : nil
        keyLength = store.sealing == nil ? nil : settings.encryption.keyLength
        provider = store.sealing == nil ? nil : settings.encryption.provider
    }

    /// Whether one of the options may be a secret that the keychain holds.
    fileprivate static func mayHaveSecret(_ options: [String: ComponentOption.Value]) -> Bool {
        options.values.contains { if case .string(let text) = $0 { text.hasPrefix("keychain") } else { false } }
    }
}

/// Identifies a configured transport across snapshots, so that one whose configuration is unchanged stays open.
package struct TransportKey: Hashable {
    private let transport: HostSettings.Sync.Transport
    /// For transports that need the keychain to be opened.
    private let keychain: HostSettings.Store?

    package init(_ transport: HostSettings.Sync.Transport, keychain: HostSettings.Store?) {
        self.transport = transport
        self.keychain = SlotKey.mayHaveSecret(transport.options) ? keychain : nil
    }
}
