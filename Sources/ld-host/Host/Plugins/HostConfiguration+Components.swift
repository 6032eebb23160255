internal import Glibc
package import LocalDataAPI

extension HostConfiguration {
    /// The problems of stores, domains, the crypto provider, the sync transport and migration packs with the available
    /// plugins: unknown components and options, and invalid option values. Plugins are inspected as for a list of
    /// them; nothing is opened. Built-in defaults are not checked.
    package func componentProblems() -> [ConfigurationProblem] {
        guard let folders = try? folders(), let registry = pluginRegistry else { return [] }
        let check = ComponentCheck(self, registry.records(), folders)
        return (check.stores() + check.domains() + check.provider() + check.transport() + check.packs()).sorted {
            left, right in
            (left.origin.line ?? 0, left.origin.column ?? 0) < (right.origin.line ?? 0, right.origin.column ?? 0)
        }
    }

    /// Every problem. Migration packs are opened only if there is no other.
    package func allProblems() -> [ConfigurationProblem] {
        let found = problems() + componentProblems() + catalogProblems()
        return found.isEmpty ? packProblems() : found
    }

    /// The catalogs that cannot be used: files that are missing or no manifest, and keys that two of them list.
    private func catalogProblems() -> [ConfigurationProblem] {
        guard let settings = try? settings(), let origin = layered.value(at: ["catalogs"])?.origin else { return [] }
        var index = CatalogIndex()
        return settings.catalogs.compactMap { path in
            do throws(StorageError) {
                try index.add(CatalogManifest(file: path), settings: settings)
                return nil
            } catch {
                return ConfigurationProblem(
                    path: ["catalogs"], origin: origin, message: error.message, hint: error.hint)
            }
        }
    }

    /// The mistakes that configured migration packs find in their options, such as the steps of a manifest. This opens
    /// the packs, and runs none of their migrations. Packs that ``componentProblems()`` has problems with are left out.
    private func packProblems() -> [ConfigurationProblem] {
        guard let settings = try? settings(), let registry = pluginRegistry else { return [] }
        let log = settings.logLevel.map { StandardErrorLog(level: $0) as any StorageLogHandler } ?? SilentLog()
        return settings.packs.flatMap { pack -> [ConfigurationProblem] in
            guard let image = try? registry.plugin(offering: pack.component, kind: .migration) else { return [] }
            do throws(StorageError) {
                _ = try image.openPack(pack, folders: settings.folders, log: log)
                return []
            } catch {
                let path = ["migrations", "packs", pack.name]
                let origin = layered.value(at: path + ["options"])?.origin ?? layered.value(at: path)?.origin
                guard let origin else { return [] }
                let mistakes = error.mistakes
                return mistakes.map { mistake in
                    ConfigurationProblem(
                        path: path, origin: origin, message: mistake, hint: mistakes.count == 1 ? error.hint : "")
                }
            }
        }
    }

    /// A registry of the configured plugins; `nil` if the configuration does not say where they are.
    var pluginRegistry: PluginRegistry? {
        guard let folders = try? folders(), let places = try? pluginPlaces() else { return nil }
        let timeout = (try? layered.duration(at: ["plugins", "timeout"])) ?? .seconds(5)
        return PluginRegistry(
            searchPath: PluginSearchPath(places: places),
            inspector: PluginInspector(host: PluginInspector.installedHost, timeout: timeout),
            cacheFolder: folders.cache)
    }

    /// Every problem of one file.
    ///
    /// - Throws: `invalidConfiguration` if it is missing or malformed.
    package static func problems(inFile path: String) throws(StorageError) -> [ConfigurationProblem] {
        guard let document = try ConfigurationDocument(path: path) else {
            throw StorageError(.invalidConfiguration, "there is no file '\(path)'")
        }
        let layered = LayeredConfiguration(layers: [ConfigurationLayer(.user, document)])
        let found =
            HostConfiguration(layered: layered, locations: .current).problems()
            + problems(inFile: document) { $0.componentProblems() + $0.catalogProblems() }
        return found.isEmpty ? problems(inFile: document) { $0.packProblems() } : found
    }

    /// Changes one value in the configuration file, keeping its comments and order.
    ///
    /// - Parameters:
    ///   - path: The setting.
    ///   - text: JSON, or text if it is not JSON; `nil` removes the setting.
    /// - Returns: The file's path.
    /// - Throws: `invalidConfiguration` if the result would be invalid; `busy` if another process holds the file's
    ///   lock. Then the file has not changed.
    package func change(_ path: String, to text: String?, flags: Flags) throws(StorageError) -> String {
        let section = try ConfigurationPath(path).segments.first ?? ""
        let asksPlugins = text != nil && ["domains", "stores", "encryption", "sync", "migrations"].contains(section)
        // Before taking the lock: inspecting new plugins takes time.
        if asksPlugins { _ = pluginRegistry?.survey() }
        return try change(path, to: text, flags: flags) {
            let others = section == "catalogs" ? $0.catalogProblems() : section == "migrations" ? $0.packProblems() : []
            return (asksPlugins ? $0.componentProblems() : []) + others
        }
    }

    /// Replaces the configuration file by an edited draft.
    ///
    /// - Throws: `invalidConfiguration` if the text is malformed, or brings in a problem; `busy` if the file was
    ///   changed meanwhile. Then the file has not changed.
    package func replace(_ draft: Draft, by text: String, flags: Flags) throws(StorageError) {
        // Before taking the lock, as above.
        _ = pluginRegistry?.survey()
        try replace(draft, by: text, flags: flags) {
            $0.componentProblems() + $0.catalogProblems() + $0.packProblems()
        }
    }

    /// The problems of one file in the context of the others: only those within this file.
    private static func problems(
        inFile document: ConfigurationDocument, _ problems: (HostConfiguration) -> [ConfigurationProblem]
    ) -> [ConfigurationProblem] {
        let around = (try? loadUnchecked()) ?? HostConfiguration()
        let layers = around.layered.layers.filter { $0.source != document.source }
        let layered = LayeredConfiguration(layers: layers + [ConfigurationLayer(.flag, document)])
        return problems(HostConfiguration(layered: layered, locations: around.locations))
            .filter { $0.origin.source == document.source }
    }
}

extension HostConfiguration {
    /// This configuration, in which files keep `userDefaults` from now on, if they have to: if nothing else was said,
    /// the SQLite store is not there and has no values, and the program has a store of its own for files; else `nil`.
    func withLinkedStore(_ registry: PluginRegistry) throws(StorageError) -> HostConfiguration? {
        let domain = "userDefaults"
        guard PluginImage.ofProgram.contains(where: { $0.offers("file", .storage) }),
            let (store, origin) = layered.value(at: ["domains", domain]), origin.layer == .default,
            store == .string("sqlite"), let folder = try? folders().data,
            access("\(folder)/values.sqlite", F_OK) != 0,
            !registry.mayOffer("sqlite", .storage, usuallyIn: "libSQLiteStore.so")
        else { return nil }
        let choice = DefaultStores(in: folder)
        // Where it cannot be written, no value can be stored either.
        try? choice.choose("file", for: domain)
        return above(try choice.layer() ?? choice.layer(["userDefaults": "file"]))
    }
}

/// Compares a configuration with the available plugins.
private struct ComponentCheck {
    private let configuration: HostConfiguration
    private let folders: HostSettings.Folders
    private let refusals: [StorageError]
    private let components: [PluginDescription.Component]

    init(_ configuration: HostConfiguration, _ records: [PluginRecord], _ folders: HostSettings.Folders) {
        self.configuration = configuration
        self.folders = folders
        refusals = records.refusals
        components = records.choices.compactMap(\.component)
    }

    private var layered: LayeredConfiguration { configuration.layered }

    func stores() -> [ConfigurationProblem] {
        names(["stores"]).flatMap { component(in: ["stores", $0], .storage) }
    }

    func packs() -> [ConfigurationProblem] {
        names(["migrations", "packs"]).flatMap {
            component(in: ["migrations", "packs", $0], .migration)
        }
    }

    func transport() -> [ConfigurationProblem] { component(in: ["sync"], named: "transport", .sync) }

    func provider() -> [ConfigurationProblem] {
        text(at: ["encryption", "provider"]).map { unknown($0.value, .crypto, $0.path, $0.origin) ?? [] } ?? []
    }

    func domains() -> [ConfigurationProblem] {
        let stores = names(["stores"])
        return names(["domains"]).flatMap { domain -> [ConfigurationProblem] in
            guard let (store, path, origin) = text(at: ["domains", domain]), !stores.contains(store) else { return [] }
            return unknown(store, .storage, path, origin, besides: stores) ?? []
        }
    }

    private func names(_ path: [String]) -> [String] { (try? layered.keys(at: path)) ?? [] }

    private func text(at path: [String]) -> (value: String, path: [String], origin: ConfigurationOrigin)? {
        guard let (value, origin) = layered.value(at: path), case .string(let text) = value, origin.layer != .default
        else { return nil }
        return (text, path, origin)
    }

    /// The problem of an unknown component id; `nil` if a component of the kind has it.
    private func unknown(
        _ id: String, _ kind: ComponentKind, _ path: [String], _ origin: ConfigurationOrigin,
        besides names: [String] = []
    ) -> [ConfigurationProblem]? {
        let known = components.filter { $0.kind == kind.rawValue }.map(\.id).sorted()
        guard !known.contains(id) else { return nil }
        let near = EditDistance.nearest(to: id, in: known + names, within: 2)
        let list = known.isEmpty ? "there are none" : "there are \(known.joined(separator: ", "))"
        let refusal = refusals.first.map { "a plugin was refused: \($0.message)" }
        return [
            ConfigurationProblem(
                path: path, origin: origin,
                message: (names.isEmpty ? "" : "no store has this name, and ")
                    + "no plugin offers the \(kind) component '\(id)'",
                hint: near.map { "did you mean '\($0)'?" } ?? refusal ?? list)
        ]
    }

    /// The options that are passwords, of a component that is not named yet and so does not say which of its are.
    private func exposed(in path: [String], before member: String) -> [ConfigurationProblem] {
        names(path + ["options"]).compactMap { name in
            let place = path + ["options", name]
            guard let (value, origin) = layered.value(at: place).map({ ($0.value, $0.origin) }),
                value != value.withoutPasswords(named: name)
            else { return nil }
            return ConfigurationProblem(
                path: place, origin: origin, message: "it contains a password, which a configuration must not contain",
                hint: "set \(ConfigurationPath(path + [member])) first: the component says which option names a value "
                    + "of the keychain instead")
        }
    }

    /// The problems of a component and its options.
    ///
    /// - Parameters:
    ///   - path: The object that has both.
    ///   - member: The member with the component's id.
    private func component(
        in path: [String], named member: String = "component", _ kind: ComponentKind
    ) -> [ConfigurationProblem] {
        guard let (id, place, origin) = text(at: path + [member]) else { return exposed(in: path, before: member) }
        if let problems = unknown(id, kind, place, origin) { return problems }
        guard let component = components.first(where: { $0.id == id && $0.kind == kind.rawValue }) else { return [] }
        func problem(_ option: String?, _ message: String, _ hint: String) -> ConfigurationProblem {
            let place = path + ["options"] + (option.map { [$0] } ?? [])
            return ConfigurationProblem(
                path: place, origin: layered.value(at: place)?.origin ?? origin, message: message,
                hint: hint.isEmpty ? "see: ld-host plugins inspect \(id)" : hint)
        }
        var (options, problems): ([String: ComponentOption.Value], [ConfigurationProblem]) = ([:], [])
        for name in names(path + ["options"]) {
            guard let value = layered.value(at: path + ["options", name])?.value else { continue }
            if let option = value.option {
                options[name] = option
            } else {
                problems.append(
                    problem(
                        name, "component '\(id)': option '\(name)' is \(value.kind)",
                        "options are text, numbers, true or false, or lists"))
            }
        }
        let resolver = OptionResolver(component: component, folders: folders)
        let unusable = Set(problems.map { $0.path[$0.path.count - 1] })
        for found in resolver.problems(with: options) where !unusable.contains(found.name) {
            problems.append(problem(found.name, "component '\(id)': \(found.message)", found.hint))
        }
        return problems
    }
}
