package import LocalDataAPI

extension HostConfiguration {
    /// The configuration in the types that the host works with.
    ///
    /// - Throws: `invalidConfiguration` if it was changed to something that is not valid.
    package func settings() throws(StorageError) -> HostSettings {
        var stores: [String: HostSettings.Store] = [:]
        for name in layered.keys(at: ["stores"]) { stores[name] = try store(named: name) }
        var routes: [String: HostSettings.Route] = [:]
        for domain in layered.keys(at: ["domains"]) {
            guard case (.string(let name), let origin)? = layered.value(at: ["domains", domain]) else { continue }
            // A component's id alone is a store with the component's defaults.
            let store = stores[name] ?? Self.store(name, component: name, origin: "\(origin)")
            routes[domain] = HostSettings.Route(store: store, origin: "\(origin)")
        }
        return HostSettings(
            pluginPlaces: pluginPlaces(), inspectionTimeout: .seconds(layered.double(at: ["plugins", "timeout"]) ?? 5),
            routes: routes, stores: stores, catalogs: catalogs,
            keychainService: layered.string(at: ["keychain", "service"]),
            appGroup: layered.string(at: ["appGroups", "default"]),
            appGroupsFolder: layered.string(at: ["appGroups", "path"]) ?? "\(locations.folders.data)/groups",
            subDirectory: layered.string(at: ["files", "subDirectory"]), folders: folders,
            appVersion: layered.string(at: ["app", "version"]),
            role: layered.string(at: ["device", "role"]).flatMap { DeviceRole(rawValue: $0) } ?? .all,
            logLevel: logLevel)
    }

    private var folders: HostSettings.Folders {
        let standard = locations.folders
        return HostSettings.Folders(
            data: layered.string(at: ["directories", "data"]) ?? standard.data,
            cache: layered.string(at: ["directories", "cache"]) ?? standard.cache,
            state: layered.string(at: ["directories", "state"]) ?? standard.state,
            config: layered.string(at: ["directories", "config"]) ?? standard.config)
    }

    private var catalogs: [String] {
        guard case .array(let elements)? = layered.value(at: ["catalogs"])?.value else { return [] }
        return elements.compactMap { if case .string(let path) = $0 { path } else { nil } }
    }

    private var logLevel: StorageLogLevel? {
        switch layered.string(at: ["log", "level"]) {
        case "debug": .debug
        case "info": .info
        case "error": .error
        case "off": nil
        default: .warning
        }
    }

    private func pluginPlaces() -> [PluginSearchPath.Place] {
        var places: [PluginSearchPath.Place] = []
        if case (.array(let elements), let origin)? = layered.value(at: ["plugins", "path"]) {
            for case .string(let path) in elements {
                places.append(.init(path: path, origin: "plugins.path in \(origin)"))
            }
        }
        places += locations.pluginPath.map { .init(path: $0, origin: "LOCALDATA_PLUGIN_PATH") }
        return places + PluginSearchPath.builtIn(executable: PluginSearchPath.executable)
    }

    private func store(named name: String) throws(StorageError) -> HostSettings.Store {
        let path = ["stores", name]
        guard case (.string(let component), let origin)? = layered.value(at: path + ["component"]) else {
            throw StorageError(
                .invalidConfiguration, "the store '\(name)' has no component", hint: "set stores.\(name).component")
        }
        var options: [String: ComponentOption.Value] = [:]
        if case .object(let members)? = layered.value(at: path + ["options"])?.value {
            for (key, value) in members { options[key] = value.option }
        }
        var isSealed = false
        if let sealing = layered.value(at: path + ["sealing"])?.value { isSealed = sealing != .null }
        return Self.store(
            name, component: component, origin: "\(origin)", options: options,
            concurrency: layered.double(at: path + ["concurrency"]).map { Int($0) },
            timeout: layered.double(at: path + ["timeout"]), isSealed: isSealed)
    }

    private static func store(
        _ name: String, component: String, origin: String, options: [String: ComponentOption.Value] = [:],
        concurrency: Int? = nil, timeout: Double? = nil, isSealed: Bool = false
    ) -> HostSettings.Store {
        HostSettings.Store(
            name: name, component: component, options: options, origin: origin, concurrency: concurrency ?? 48,
            timeout: .seconds(timeout ?? 10), isSealed: isSealed)
    }
}

extension JSONValue {
    /// The value as an option; `nil` for what no option can be.
    fileprivate var option: ComponentOption.Value? {
        switch self {
        case .string(let text): .string(text)
        case .integer(let number): .integer(number)
        case .double(let number): .number(number)
        case .bool(let value): .boolean(value)
        default: nil
        }
    }
}
