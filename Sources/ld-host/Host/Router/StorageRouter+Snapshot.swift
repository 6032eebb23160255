internal import HostGround
internal import HostMigration
internal import HostMoving
internal import HostPlugins
internal import HostStores
internal import HostTransfer
internal import LocalDataAPI

extension StorageRouter {
    /// The snapshot for a state; stores whose configuration is unchanged keep their slots.
    static func snapshot(of state: inout State) throws(StorageError) -> RouterSnapshot {
        let configuration = try effective(state).withDefaultStores()
        var settings = try configuration.settings()
        let log: any StorageLogHandler =
            state.log ?? settings.logLevel.map { StandardErrorLog(level: $0) } ?? SilentLog()
        let registry = registry(for: settings, in: &state)
        if let changed = try configuration.withLinkedStore(registry) { settings = try changed.settings() }
        let providers = state.providers
        let relay = state.relay
        let crypto = crypto(for: settings, registry: registry, log: relay, in: &state)
        let opener = StoreOpener(
            settings: settings, registry: registry, log: relay, crypto: crypto, providers: providers,
            marks: state.marks)
        var slots: [String: StoreSlot] = [:]
        let keychain = settings.routes["keychain"]?.store
        // The keychain's store comes first: it may hold the key that seals other stores.
        let stores = (keychain.map { [$0] } ?? []) + settings.routes.values.map(\.store) + settings.stores.values
        for store in stores where slots[store.name] == nil {
            let key = SlotKey(store, keychain: keychain, settings)
            let slot = opener.slot(
                for: store, keychain: keychain.flatMap { slots[$0.name] }, reusing: state.slots[key])
            state.slots[key] = slot
            slots[store.name] = slot
        }
        let rings = MasterRings(
            settings.encryption, crypto: crypto,
            keychain: StoreOpener.keychain(
                keychain.flatMap { slots[$0.name] }, folder: settings.folders.rings))
        state.rings.append(rings)
        var catalog: CatalogIndex?
        for registered in state.catalogs {
            var index = catalog ?? CatalogIndex()
            try index.add(registered, settings: settings)
            catalog = index
        }
        var described = CatalogIndex()
        for path in settings.catalogs { try described.add(CatalogManifest(file: path), settings: settings) }
        relay.handler = log
        return RouterSnapshot(
            settings: settings, registry: registry, catalog: catalog, described: described,
            declared: state.declared, log: log, crypto: crypto, rings: rings, providers: providers,
            places: state.places, packs: packs(of: settings, registry: registry, log: relay, in: &state),
            transport: transport(opener, keychain: keychain, slots, in: &state),
            opener: opener, slots: slots)
    }

    /// The configuration, overridden by what was set in code.
    static func effective(_ state: State) throws(StorageError) -> HostConfiguration {
        var configuration = state.configuration ?? HostConfiguration()
        for (path, value) in [
            ("app.id", state.storage.appIdentifier),
            ("app.version", state.storage.appVersion),
            ("migrations.dataVersion", state.storage.dataVersion),
            ("keychain.accessibility", state.storage.accessibility?.setting),
            ("keychain.accessControl", state.storage.accessControl?.setting),
            ("keychain.service", state.storage.defaultKeychainService),
            ("appGroups.default", state.storage.defaultAppGroupIdentifier),
            ("files.subDirectory", state.files.subDirectory),
            ("encryption.service", state.encryption.masterKeyService),
            ("encryption.account", state.encryption.masterKeyAccount),
        ] {
            if let value { try configuration.set(path, AnyCodable(value)) }
        }
        for (path, value) in [
            ("encryption.keyLength", state.encryption.masterKeyLength),
            ("encryption.iterations", state.encryption.pbkdf2Iterations),
            ("sync.maxAutoSyncSize", state.syncing.maxAutoSyncSize),
        ] {
            if let value { try configuration.set(path, AnyCodable(.int(Int64(value)))) }
        }
        return configuration
    }

    /// One registry per search path, so that a plugin is inspected once.
    private static func registry(for settings: HostSettings, in state: inout State) -> PluginRegistry {
        let places = settings.pluginPlaces.map { "\($0.path)\n\($0.origin)" }.joined(separator: "\n")
        let signature = "\(places)\n\(settings.inspectionTimeout)\n\(settings.folders.cache)\n\(state.linked.count)"
        if let registry = state.registries[signature] { return registry }
        let registry = PluginRegistry(
            searchPath: PluginSearchPath(places: settings.pluginPlaces),
            inspector: PluginInspector(host: PluginInspector.installedHost, timeout: settings.inspectionTimeout),
            cacheFolder: settings.folders.cache, linked: state.linked)
        state.registries[signature] = registry
        return registry
    }

    /// The migration packs; an open one stays open as long as its configuration is unchanged.
    private static func packs(
        of settings: HostSettings, registry: PluginRegistry, log: any StorageLogHandler, in state: inout State
    ) -> [PackSlot] {
        settings.packs.map { pack in
            if let slot = state.packs[pack]?.slot(registry, settings.folders) { return slot }
            let slot = PackSlot(pack, registry: registry, folders: settings.folders, log: log)
            state.packs[pack] = Kept(slot: slot, registry: registry, folders: settings.folders)
            return slot
        }
    }

    /// The sync transport; an open one stays open as long as its configuration is unchanged.
    private static func transport(
        _ opener: StoreOpener, keychain: HostSettings.Store?, _ slots: [String: StoreSlot], in state: inout State
    ) -> TransportSlot? {
        opener.settings.sync.transport.map { transport in
            let key = TransportKey(transport, keychain: keychain)
            let folders = opener.settings.folders
            if let slot = state.transports[key]?.slot(opener.registry, folders) { return slot }
            let slot = TransportSlot(
                transport, registry: opener.registry, folders: folders,
                secrets: opener.secrets(in: keychain.flatMap { slots[$0.name] }), log: opener.log)
            state.transports[key] = Kept(slot: slot, registry: opener.registry, folders: folders)
            return slot
        }
    }

    /// The crypto provider; an open one stays open as long as it is the same component.
    private static func crypto(
        for settings: HostSettings, registry: PluginRegistry, log: any StorageLogHandler, in state: inout State
    ) -> CryptoSlot {
        let id = settings.encryption.provider
        let folders = settings.folders
        if let slot = state.cryptos[id]?.slot(registry, folders) { return slot }
        let slot = CryptoSlot { () throws(StorageError) in
            let image = try registry.plugin(offering: id, kind: .crypto)
            log(.debug, "router", "opening crypto provider '\(id)' of \(image.path)")
            return try image.openCrypto(id, folders: folders, log: log)
        }
        state.cryptos[id] = Kept(slot: slot, registry: registry, folders: folders)
        return slot
    }
}

extension StorageRouter {
    /// The stores of the current snapshot.
    func access() async throws(StorageError) -> StoreAccess { StoreAccess(snapshot: try await snapshot()) }

    /// The key's open store and handle, resolved once per snapshot.
    ///
    /// - Throws: What ``StoreAccess/resolve(_:)`` throws.
    func resolve(_ key: KeyReference) async throws(StorageError) -> ResolvedKey {
        if let resolved = known(key.slot) { return resolved.takeUnretainedValue() }
        return try await access().resolve(key)
    }

    /// Resolves a typed key; a known one costs no reference to its parts.
    @inline(__always)
    func resolve<Value>(_ key: StorageKey<Value>) async throws(StorageError) -> ResolvedKey {
        if let resolved = known(key.slot) { return resolved.takeUnretainedValue() }
        return try await resolve(KeyReference(key))
    }

    /// Resolves a key whose value is to be read: if another place has a newer one, that is brought first.
    ///
    /// - Throws: Besides, `conflict` if nothing shows which of two values is the key's.
    @inline(__always)
    func resolveForReading<Value>(_ key: StorageKey<Value>) async throws -> ResolvedKey {
        let resolved = try await resolve(key)
        guard resolved.isDoubtful else { return resolved }
        try await engine().settlePlace(of: AnyStorageKey(key), resolved)
        return try await resolve(key)
    }

    /// The same for a key without its type.
    func resolveForReading(_ key: AnyStorageKey) async throws -> ResolvedKey {
        let resolved = try await resolve(KeyReference(key))
        guard resolved.isDoubtful else { return resolved }
        try await engine().settlePlace(of: key, resolved)
        return try await resolve(KeyReference(key))
    }

    /// - Throws: `conflict` if the value at a key's place belongs to another owner's.
    @inline(__always)
    func requireOwner(_ resolved: ResolvedKey, _ key: @autoclosure () -> StorageKeyDescriptor) async throws {
        if resolved.isDoubtful { try await engine().requireOwner(key(), resolved) }
    }
}

extension StorageRouter {
    /// How the host handles interrupted work.
    private func recovery(_ snapshot: RouterSnapshot) -> JournalRecovery {
        JournalRecovery([
            ResealIntent.kind: .onDemand, CopyIntent.kind: .onDemand,
            SwitchIntent.kind: .atOpen { intent in
                try StoreSwitch.recover(intent) { () throws(StorageError) in try self.follow() }
            },
            BatchIntent.kind: .atOpen { try BatchRecovery(snapshot: snapshot).recover($0) },
        ])
    }

    /// Resumes interrupted work. A failure affects nothing else: it is logged, and `doctor` reports it.
    func recover(_ snapshot: RouterSnapshot) {
        for folder in [snapshot.settings.folders.journal, snapshot.settings.folders.batches] {
            recover(snapshot, folder)
        }
    }

    private func recover(_ snapshot: RouterSnapshot, _ folder: String) {
        do throws(StorageError) {
            let report = try IntentJournal(folder: folder).recover(with: recovery(snapshot))
            for failure in report.failures {
                snapshot.log(.warning, "journal", "'\(failure.intent.subject)' is incomplete: \(failure.error.message)")
            }
            for intent in report.recovered { snapshot.log(.info, "journal", "'\(intent.subject)' is now done") }
        } catch {
            snapshot.log(.warning, "journal", error.message)
        }
    }
}
