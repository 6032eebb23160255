package import LocalDataAPI

extension HostConfiguration {
    /// The configuration in the types that the host works with.
    ///
    /// - Throws: `invalidConfiguration` if a value is not of its kind, or a folder is not known.
    package func settings() throws(StorageError) -> HostSettings {
        if let problem = locations.problem { throw problem }
        let folders = try folders()
        var stores: [String: HostSettings.Store] = [:]
        for name in try layered.keys(at: ["stores"]) { stores[name] = try store(named: name, folders) }
        var routes: [String: HostSettings.Route] = [:]
        var refusals: [String: StorageError] = [:]
        for domain in try layered.keys(at: ["domains"]) {
            guard let name = try layered.string(at: ["domains", domain]),
                let origin = layered.value(at: ["domains", domain])?.origin
            else { continue }
            // A component's id alone is a store with the component's defaults.
            let store = stores[name] ?? Self.store(name, component: name, origin: "\(origin)")
            routes[domain] = HostSettings.Route(store: store, origin: "\(origin)")
            refusals[domain] = refusal(ofDomain: domain, servedBy: name)
        }
        return HostSettings(
            pluginPlaces: try pluginPlaces(),
            inspectionTimeout: try layered.duration(at: ["plugins", "timeout"]) ?? .seconds(5),
            routes: routes, refusals: refusals, stores: stores, catalogs: try layered.strings(at: ["catalogs"]) ?? [],
            encryption: try encryption(), appID: try layered.string(at: ["app", "id"]) ?? ownAppID,
            keychainService: try layered.string(at: ["keychain", "service"]),
            sealsMemory: sealsMemory, endsAfterCommand: endsAfterCommand,
            isAccessibilityAdvisory: try layered.string(at: ["keychain", "accessibility"]) != "refuse",
            isAccessControlAdvisory: try layered.string(at: ["keychain", "accessControl"]) == "advisory",
            appGroup: try layered.string(at: ["appGroups", "default"]),
            appGroupsFolder: try layered.string(at: ["appGroups", "path"]) ?? "\(folders.data)/groups",
            subDirectory: try layered.string(at: ["files", "subDirectory"]), folders: folders,
            appVersion: try layered.string(at: ["app", "version"]),
            dataVersion: try layered.string(at: ["migrations", "dataVersion"]),
            migrationPreferences: try preferences(),
            migrationGrace: try layered.integer(at: ["migrations", "grace"]).map { Int(clamping: $0) } ?? 7,
            sync: try sync(),
            role: try layered.string(at: ["device", "role"]).flatMap { DeviceRole(rawValue: $0) } ?? .all,
            logLevel: try logLevel(), packs: try packs())
    }

    package func folders() throws(StorageError) -> HostSettings.Folders {
        func folder(_ name: String) throws(StorageError) -> String {
            guard let path = try layered.string(at: ["directories", name]) else {
                throw StorageError(
                    .invalidConfiguration, "there is no home directory to keep anything in",
                    hint: "set HOME to an absolute path, or directories.\(name) in the configuration")
            }
            return path
        }
        return HostSettings.Folders(
            data: try folder("data"), cache: try folder("cache"), state: try folder("state"),
            config: try folder("config"))
    }

    private func preferences() throws(StorageError) -> [String: AnyCodable] {
        var preferences: [String: AnyCodable] = [:]
        let path = ["migrations", "preferences"]
        for name in try layered.keys(at: path) {
            preferences[name] = layered.value(at: path + [name])?.value.anyCodable
        }
        return preferences
    }

    private func logLevel() throws(StorageError) -> StorageLogLevel? {
        switch try layered.string(at: ["log", "level"]) {
        case "debug": .debug
        case "info": .info
        case "error": .error
        case "off": nil
        default: .warning
        }
    }

    package func pluginPlaces() throws(StorageError) -> [PluginSearchPath.Place] {
        guard looksForPlugins else { return [] }
        let path = ["plugins", "path"]
        let origin = layered.value(at: path).map { "plugins.path in \($0.origin)" } ?? ""
        let named = try layered.strings(at: path) ?? []
        return named.map { PluginSearchPath.Place(path: $0, origin: origin) }
            + locations.pluginPath.map { PluginSearchPath.Place(path: $0, origin: "LOCALDATA_PLUGIN_PATH") }
            + PluginSearchPath.builtIn(executable: PluginSearchPath.executable)
    }

    private func store(
        named name: String, _ folders: HostSettings.Folders
    ) throws(StorageError) -> HostSettings.Store {
        let path = ["stores", name]
        guard let component = try layered.string(at: path + ["component"]),
            let origin = layered.value(at: path + ["component"])?.origin
        else {
            throw StorageError(
                .invalidConfiguration, "the store '\(name)' has no component", hint: "set stores.\(name).component")
        }
        return Self.store(
            name, component: component, origin: "\(origin)", options: try options(of: "store '\(name)'", at: path),
            concurrency: try layered.integer(at: path + ["concurrency"]).map { Int(clamping: $0) },
            timeout: try layered.duration(at: path + ["timeout"]), sealing: try sealing(ofStore: name, folders))
    }

    private func options(
        of what: String, at path: [String]
    ) throws(StorageError) -> [String: ComponentOption.Value] {
        var options: [String: ComponentOption.Value] = [:]
        for key in try layered.keys(at: path + ["options"]) {
            guard let (value, origin) = layered.value(at: path + ["options", key]) else { continue }
            guard let option = value.option else {
                throw StorageError(
                    .invalidOptions, "\(origin): option '\(key)' of \(what) is \(value.kind)",
                    hint: "options are text, numbers, true or false, or lists")
            }
            options[key] = option
        }
        return options
    }

    private func packs() throws(StorageError) -> [HostSettings.Pack] {
        var packs: [HostSettings.Pack] = []
        for name in try layered.keys(at: ["migrations", "packs"]).sorted() {
            let path = ["migrations", "packs", name]
            guard let component = try layered.string(at: path + ["component"]),
                let origin = layered.value(at: path + ["component"])?.origin
            else {
                throw StorageError(
                    .invalidConfiguration, "the migration pack '\(name)' has no component",
                    hint: "set migrations.packs.\(name).component")
            }
            packs.append(
                HostSettings.Pack(
                    name: name, component: component,
                    options: try options(of: "migration pack '\(name)'", at: path), origin: "\(origin)",
                    timeout: try layered.duration(at: path + ["timeout"]) ?? .seconds(300)))
        }
        return packs
    }

    private func sync() throws(StorageError) -> HostSettings.Sync {
        let path = ["sync", "transport"]
        var transport: HostSettings.Sync.Transport?
        if let component = try layered.string(at: path), let origin = layered.value(at: path)?.origin {
            transport = HostSettings.Sync.Transport(
                component: component, options: try options(of: "the sync transport", at: ["sync"]),
                origin: "\(origin)")
        }
        return HostSettings.Sync(
            transport: transport,
            maxAutoSyncSize: try layered.integer(at: ["sync", "maxAutoSyncSize"]).map { Int(clamping: $0) } ?? 100_000,
            forget: try layered.integer(at: ["sync", "forget"]).map { Int(clamping: $0) } ?? 180)
    }

    private static func store(
        _ name: String, component: String, origin: String, options: [String: ComponentOption.Value] = [:],
        concurrency: Int? = nil, timeout: Duration? = nil, sealing: HostSettings.Sealing? = nil
    ) -> HostSettings.Store {
        HostSettings.Store(
            name: name, component: component, options: options, origin: origin, concurrency: concurrency ?? 48,
            timeout: timeout ?? .seconds(10), sealing: sealing)
    }
}

extension JSONValue {
    /// The value as an option; `nil` for what no option can be.
    package var option: ComponentOption.Value? {
        switch self {
        case .string(let text): .string(text)
        case .integer(let number): .integer(number)
        case .double(let number): .number(number)
        case .bool(let value): .boolean(value)
        case .array(let elements): .list(elements.map(\.anyCodable))
        case .null, .object: nil
        }
    }
}
