internal import FoundationEssentials
internal import LocalDataAPI

/// Opens stores as the configuration says: component, options, sealing.
struct StoreOpener: Sendable {
    let settings: HostSettings
    let registry: PluginRegistry
    let log: any StorageLogHandler
    let crypto: CryptoSlot
    let providers: KeyMaterialProviders

    /// The slot of a store.
    ///
    /// - Parameter keychain: The keychain domain's store, if it is another one.
    func slot(for store: HostSettings.Store, keychain: StoreSlot?) -> StoreSlot {
        StoreSlot(settings: store) { () throws(StorageError) in
            let image = try registry.plugin(offering: store.component, kind: .storage)
            guard let component = image.description.components.first(where: { $0.id == store.component }) else {
                throw StorageError(.componentNotFound, "plugin '\(image.path)' has no component '\(store.component)'")
            }
            let options = try OptionResolver(component: component, folders: settings.folders).resolve(store)
            log(.debug, "router", "opening store '\(store.name)' with component '\(store.component)' of \(image.path)")
            do throws(StorageError) {
                let opened = try image.openStore(store.component, options: options, host: HostTable.shared(for: log))
                let identity = [store.component, String(decoding: options, as: UTF8.self)]
                return OpenStore(
                    name: store.name, store: opened, plugin: image.path, component: store.component,
                    identity: StableHash.of(identity), sealing: try sealing(of: store, opened, identity, keychain),
                    concurrency: store.concurrency, timeout: store.timeout)
            } catch {
                throw StorageError(
                    error.code, "store '\(store.name)' cannot be opened: \(error.message)", hint: error.hint)
            }
        }
    }

    private func sealing(
        of store: HostSettings.Store, _ opened: LoadedStore, _ identity: [String], _ keychain: StoreSlot?
    ) throws(StorageError) -> StoreSealing? {
        guard let sealing = store.sealing else { return nil }
        if case .keychain = sealing.source, keychain == nil {
            throw StorageError(
                .invalidConfiguration,
                "it is to be sealed with a key from the keychain, which it serves itself: the key would lie in what it "
                    + "locks",
                hint: "choose another sealing.source, or let another store serve the keychain")
        }
        let source = KeySource(
            source: sealing.source, store: store.name, folder: settings.folders.rings,
            crypto: try crypto.openIfNeeded(), providers: providers,
            keychain: Self.keychain(keychain, folder: settings.folders.rings))
        return try StoreSealing(
            store: opened, settings: sealing, source: source,
            file: "\(settings.folders.rings)/ring-\(StableHash.text(["store"] + identity))",
            keyLength: settings.encryption.keyLength)
    }

    /// A way to values of the keychain domain, for the host's own keys.
    ///
    /// - Parameter folder: Where the locks of rings are.
    static func keychain(
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
                    "the store '\(open.name)' of the domain 'keychain' keeps plain values; no key is kept there",
                    hint: "give it a sealing, or map the domain to another store: "
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

/// A value of the keychain domain, for the host's own keys.
struct KeychainValue: Sendable {
    /// The list of what the host keeps in the keychain.
    let list: RingList
    let service: String
    let account: String
    let value: SealedValue

    /// The bytes, or `nil` if there are none. Lists what is found, since installations made some before there was a
    /// list; where nothing can be written, it opens all the same.
    func load(_ kind: RingList.Kind?) throws(StorageError) -> SecretBytes? {
        guard var data = try value.get() else { return nil }
        defer { data.resetBytes(in: 0..<data.count) }
        return try data.withBuffer { (bytes) throws(StorageError) in
            // What only lies where the configuration looks for a ring is none.
            if let kind, kind != .ring || (try? KeyRingState(decoding: bytes, of: "")) != nil {
                try? list.add(kind, service, account)
            }
            return try SecretBytes(copying: bytes)
        }
    }

    /// Stores the bytes, which are on the list before that.
    func save(_ bytes: SecretBytes, _ kind: RingList.Kind?) throws(StorageError) {
        if let kind { try list.add(kind, service, account) }
        var data = bytes.withBytes { Data($0) }
        defer { data.resetBytes(in: 0..<data.count) }
        try value.set(data, attributes: nil)
    }
}

/// What an open store is found again by.
struct SlotKey: Hashable {
    private let store: HostSettings.Store
    /// Of stores that are sealed with a key from the keychain.
    private let keychain: HostSettings.Store?
    private let keyLength: Int?
    private let provider: String?

    init(_ store: HostSettings.Store, keychain: HostSettings.Store?, _ settings: HostSettings) {
        self.store = store
        if case .keychain = store.sealing?.source { self.keychain = keychain } else { self.keychain = nil }
        keyLength = store.sealing == nil ? nil : settings.encryption.keyLength
        provider = store.sealing == nil ? nil : settings.encryption.provider
    }
}
