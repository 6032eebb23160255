internal import Glibc
package import HostGround
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
    package var pluginRegistry: PluginRegistry? {
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
    ///   - examine: Called with the valid result, and what it replaces, before the file is written.
    /// - Returns: The file's path.
    /// - Throws: `invalidConfiguration` if the result would be invalid; `busy` if another process holds the file's
    ///   lock; what `examine` throws. Then the file has not changed.
    package func change(
        _ path: String, to text: String?, flags: Flags, examining examine: Examination = { _, _ in }
    ) throws(StorageError) -> String {
        let section = try ConfigurationPath(path).segments.first ?? ""
        let asksPlugins = text != nil && ["domains", "stores", "encryption", "sync", "migrations"].contains(section)
        // Before taking the lock: inspecting new plugins takes time.
        if asksPlugins { _ = pluginRegistry?.survey() }
        func others(_ configuration: HostConfiguration) -> [ConfigurationProblem] {
            let others =
                section == "catalogs"
                ? configuration.catalogProblems() : section == "migrations" ? configuration.packProblems() : []
            return (asksPlugins ? configuration.componentProblems() : []) + others
        }
        return try change(path, to: text, flags: flags, besides: others, examining: examine)
    }

    /// Replaces the configuration file by an edited draft.
    ///
    /// - Throws: `invalidConfiguration` if the text is malformed, or brings in a problem; `busy` if the file was
    ///   changed meanwhile; what `examine` throws. Then the file has not changed.
    package func replace(
        _ draft: Draft, by text: String, flags: Flags, examining examine: Examination = { _, _ in }
    ) throws(StorageError) {
        // Before taking the lock, as above.
        _ = pluginRegistry?.survey()
        func others(_ configuration: HostConfiguration) -> [ConfigurationProblem] {
            configuration.componentProblems() + configuration.catalogProblems() + configuration.packProblems()
        }
        try replace(draft, by: text, flags: flags, besides: others, examining: examine)
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
    package func withLinkedStore(_ registry: PluginRegistry) throws(StorageError) -> HostConfiguration? {
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
