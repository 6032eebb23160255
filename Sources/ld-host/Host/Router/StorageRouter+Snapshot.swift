internal import LocalDataAPI

extension StorageRouter {
    /// The snapshot that follows from a state; stores that are configured as before keep their slots.
    static func snapshot(of state: inout State) throws(StorageError) -> RouterSnapshot {
        let settings = try effective(state).settings()
        let log: any StorageLogHandler =
            state.log ?? settings.logLevel.map { StandardErrorLog(level: $0) } ?? SilentLog()
        let registry = registry(for: settings, in: &state)
        var slots: [String: StoreSlot] = [:]
        for store in Set(settings.routes.values.map(\.store)).union(settings.stores.values) {
            let slot =
                state.slots[store] ?? slot(for: store, settings: settings, registry: registry, log: log)
            state.slots[store] = slot
            slots[store.name] = slot
        }
        var catalog: CatalogIndex?
        for registered in state.catalogs {
            var index = catalog ?? CatalogIndex()
            try index.add(registered, settings: settings)
            catalog = index
        }
        var described = CatalogIndex()
        for path in settings.catalogs { try described.add(CatalogManifest(file: path), settings: settings) }
        return RouterSnapshot(
            settings: settings, registry: registry, catalog: catalog, described: described, log: log, slots: slots)
    }

    /// The configuration with what was set in code.
    static func effective(_ state: State) throws(StorageError) -> HostConfiguration {
        var configuration = state.configuration ?? HostConfiguration()
        for (path, value) in [
            ("keychain.service", state.storage.defaultKeychainService),
            ("appGroups.default", state.storage.defaultAppGroupIdentifier),
            ("files.subDirectory", state.files.subDirectory),
        ] {
            if let value { try configuration.set(path, .string(value)) }
        }
        return configuration
    }

    /// One registry for each search path, so that a plugin is looked at once.
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

    private static func slot(
        for store: HostSettings.Store, settings: HostSettings, registry: PluginRegistry, log: any StorageLogHandler
    ) -> StoreSlot {
        let folders = settings.folders
        return StoreSlot(settings: store) { () throws(StorageError) in
            guard !store.isSealed else {
                throw StorageError(
                    .securityApplicationFailed,
                    "store '\(store.name)' is to be sealed (\(store.origin)), and there is no crypto provider",
                    hint: "remove the store's sealing, or install a crypto provider")
            }
            let image = try registry.plugin(offering: store.component, kind: .storage)
            guard let component = image.description.components.first(where: { $0.id == store.component }) else {
                throw StorageError(.componentNotFound, "plugin '\(image.path)' has no component '\(store.component)'")
            }
            let options = try OptionResolver(component: component, folders: folders).resolve(store)
            log(.debug, "router", "opening store '\(store.name)' with component '\(store.component)' of \(image.path)")
            do throws(StorageError) {
                let opened = try image.openStore(store.component, options: options, host: HostTable.shared(for: log))
                return OpenStore(
                    name: store.name, store: opened, plugin: image.path, component: store.component,
                    concurrency: store.concurrency, timeout: store.timeout)
            } catch {
                throw StorageError(
                    error.code, "store '\(store.name)' cannot be opened: \(error.message)", hint: error.hint)
            }
        }
    }
}
