package import HostGround
internal import HostMigration
internal import HostPlugins
internal import HostStores
internal import HostTransfer
internal import LocalDataAPI

/// Examines configuration, plugins and stores, and reports what serves each domain, and why.
package enum Diagnosis {
    /// Examines everything that a router needs; continues after a problem where it can.
    ///
    /// - Parameter repairing: Whether stores first repair damage that blocks changes.
    static func findings(of engine: MigrationEngine, repairing: Bool) async -> [Finding] {
        let (access, snapshot) = (engine.access, engine.snapshot)
        var findings = [Finding(.configuration, "the configuration is valid")]
        do throws(StorageError) {
            findings += plugins(
                try await onIOThread { () throws(StorageError) in snapshot.registry.records(rescanning: .all) })
        } catch {
            findings.append(Finding(.plugins, "plugins", error))
        }
        for domain in snapshot.settings.routes.keys.sorted() { findings.append(await store(for: domain, access)) }
        for slot in snapshot.packs { findings.append(await pack(slot)) }
        findings += await transport(snapshot)
        if repairing { findings += await repair(in: snapshot) }
        let (silent, silence) = await silentStores(snapshot)
        findings += silence
        findings += await damage(in: snapshot, besides: silent)
        findings += await unlisted(access, besides: silent)
        findings += await migrations(of: engine, besides: silent)
        return findings + (await security(snapshot, besides: silent))
    }

    /// The findings on an invalid configuration, and on the plugins that it names.
    static func findings(
        withoutRouter configuration: HostConfiguration?, _ error: StorageError
    ) async -> [Finding] {
        let problems = try? await onIOThread { () throws(StorageError) -> [ConfigurationProblem] in
            configuration.map { $0.problems() + $0.componentProblems() } ?? []
        }
        let records = try? await onIOThread { () throws(StorageError) -> [PluginRecord] in
            (configuration ?? HostConfiguration()).pluginRegistry?.records() ?? []
        }
        let findings = (problems ?? []).map { Finding($0) }
        return (findings.isEmpty ? [Finding(.configuration, "configuration", error)] : findings)
            + plugins(records ?? [])
            + [
                Finding(
                    .configuration, "stores and keys were not examined; correct the configuration first",
                    isProblem: true)
            ]
    }

    private static func plugins(_ records: [PluginRecord]) -> [Finding] {
        records.refusals.map { Finding(.plugins, "plugin refused", $0) } + records.choices.map { offer($0) }
    }

    private static func offer(_ choice: ComponentChoice) -> Finding {
        let component = "component '\(choice.id)'"
        guard let plugin = choice.serving.first, choice.serving.count == 1 else {
            let paths = choice.serving.map(\.candidate.path).joined(separator: ", ")
            return Finding(
                .plugins, "\(component) is offered by more than one plugin: \(paths)",
                hint: "remove all but one of them from the search path", isProblem: true)
        }
        guard plugin.isLinked else {
            let offer = "\(component) is offered by \(plugin.candidate.path)"
            guard !choice.unused.isEmpty else { return Finding(.plugins, offer) }
            return Finding(
                .plugins, "\(offer), named in \(plugin.candidate.origin), and so replaces this program's own")
        }
        let files = choice.unusedFiles.joined(separator: ", ")
        return Finding(
            .plugins,
            "\(component) is linked into this program"
                + (files.isEmpty ? "" : "; \(files) is not used, as plugins.path does not name it"))
    }

    private static func store(for domain: String, _ access: StoreAccess) async -> Finding {
        do {
            let route = try await access.configuredRoute(of: domain)
            let open = try await access.openStore(for: domain)
            let properties = open.store.properties
            let shared = properties.isShared ? "shared between processes" : "each process has its own"
            let (protection, hint) = protection(of: domain, open)
            return Finding(
                .domain, "\(route.map { "\($0) " } ?? "")(\(properties.durability), \(shared)); \(protection)",
                hint: hint,
                isProblem: !hint.isEmpty)
        } catch {
            return Finding(.domain, domain, StorageError(wrapping: error))
        }
    }

    /// Stores of other services that do not answer in time. Each is waited for here, and not called again.
    private static func silentStores(_ snapshot: RouterSnapshot) async -> (names: Set<String>, [Finding]) {
        var names: Set<String> = []
        var findings: [Finding] = []
        for slot in snapshot.stores {
            // Other findings report a store that cannot be opened.
            guard let open = try? await onIOThread({ () throws(StorageError) in try slot.openIfNeeded() }),
                open.store.properties.latency.rawValue >= StoreProperties.Latency.network.rawValue,
                open.store.abilities.enumeration != nil
            else { continue }
            do throws(StorageError) {
                try await open.write("listing '\(open.name)'") { (store) throws(StorageError) in
                    try store.forEachPlace { _ in false }
                }
            } catch  where error.code == .timedOut {
                names.insert(open.name)
                findings.append(Finding(.store, "store '\(open.name)' does not answer", error))
            } catch {
                // Other errors come at once; the findings that need the store report them.
            }
        }
        return (names, findings)
    }

    private static func pack(_ slot: PackSlot) async -> Finding {
        do throws(StorageError) {
            let (pack, count) = try await onIOThread { () throws(StorageError) in
                let pack = try slot.openIfNeeded()
                return (pack.identity, pack.list.count)
            }
            return Finding(
                .migration,
                "the migration pack '\(pack.name)' is '\(pack.component)' \(pack.version), named in "
                    + "\(slot.settings.origin), with \(count) \(count == 1 ? "migration" : "migrations")")
        } catch {
            return Finding(.migration, "migrations", error)
        }
    }

    private static func transport(_ snapshot: RouterSnapshot) async -> [Finding] {
        guard let slot = snapshot.transport else { return [] }
        do throws(StorageError) {
            let (largest, members) = try await onIOThread { () throws(StorageError) in
                let transport = try slot.openIfNeeded()
                // Reaches the other side, which the transport may also have to warn of.
                _ = try transport.fetch(since: nil, atMost: 1) { _ in false }
                return (transport.largestRecord, try SyncDevice.memberCount(snapshot))
            }
            return [
                Finding(
                    .sync,
                    "the sync transport is '\(slot.settings.component)', named in \(slot.settings.origin), for records "
                        + "of up to \(largest) bytes"),
                members.map {
                    Finding(
                        .sync, "this device is in a sync group of \($0.counted("device"))",
                        hint: "see: ld-host sync status")
                }
                    ?? Finding(
                        .sync, "this device is in no sync group, so nothing is synced",
                        hint: "run: ld-host sync init, or: ld-host sync join"),
            ]
        } catch {
            return [Finding(.sync, "sync", error)]
        }
    }

    private static func protection(of domain: String, _ open: OpenStore) -> (text: String, hint: String) {
        switch domain {
        case "keychain" where !open.isKeychain:
            (
                "values are refused, since the store keeps plain values",
                "run: ld-host config set domains.keychain sealed-files"
            )
        case "encryptedFileSystem": ("every value is sealed with the master keys", "")
        case _ where open.sealing != nil: ("the store seals every value", "")
        case _ where open.isKeychain: ("the store is itself a keychain", "")
        default: ("keys with an encryption policy are sealed with the master keys, the others kept plain", "")
        }
    }
}

/// Whether the stores' data is sound, as far as they can check.
extension Diagnosis {
    static func damage(in snapshot: RouterSnapshot, besides silent: Set<String>) async -> [Finding] {
        let findings = try? await onIOThread { () throws(StorageError) in
            snapshot.stores.filter { !silent.contains($0.settings.name) }.flatMap(damage)
        }
        return findings ?? []
    }

    /// What stores cannot list, as a folder that this user may not read: the values in it are out of sight.
    static func unlisted(_ access: StoreAccess, besides silent: Set<String>) async -> [Finding] {
        guard let found = try? await access.populatedPlaces(besides: silent) else { return [] }
        return found.failures.compactMap { store, error in
            // Other findings report a store that cannot be opened.
            guard (try? access.snapshot.slot(ofStore: store)?.openIfNeeded()) != nil else { return nil }
            return Finding(.damage, "store '\(store)' cannot list all of its values", error)
        }
    }

    /// Repairs damage that blocks changes, in stores that can do so, and reports each step.
    static func repair(in snapshot: RouterSnapshot) async -> [Finding] {
        let findings = try? await onIOThread { () throws(StorageError) in snapshot.stores.flatMap(repair) }
        return findings ?? []
    }

    private static func repair(_ slot: StoreSlot) -> [Finding] {
        guard let open = try? slot.openIfNeeded(), open.store.abilities.repair != nil else { return [] }
        var findings: [Finding] = []
        do throws(StorageError) {
            try open.store.repair { findings.append(Finding(.damage, "store '\(open.name)' was repaired: \($0)")) }
        } catch {
            findings.append(Finding(.damage, "store '\(open.name)' cannot be repaired", error))
        }
        return findings
    }

    /// The most findings per store: damage in one location often means damage in many.
    private static let most = 20

    private static func damage(in slot: StoreSlot) -> [Finding] {
        // Other findings report a store that cannot be opened.
        guard let open = try? slot.openIfNeeded(), open.store.abilities.check != nil else { return [] }
        var findings: [Finding] = []
        do throws(StorageError) {
            try open.store.check {
                findings.append(
                    Finding(
                        .damage, "store '\(open.name)' is damaged: \($0)",
                        hint: open.store.abilities.repair == nil
                            ? "restore it from a backup"
                            : "restore it from a backup, or run: ld-host doctor --repair", isProblem: true))
                return findings.count < most
            }
        } catch {
            findings.append(Finding(.damage, "store '\(open.name)' cannot be checked", error))
        }
        return findings.isEmpty ? [Finding(.damage, "store '\(open.name)' was checked; no damage was found")] : findings
    }
}

/// Whether other users can change the host's settings or data.
extension Diagnosis {
    /// The configuration files and the folders of configuration, key files, data and state that users other than root
    /// and this one can write to.
    ///
    /// They are used all the same, since someone may share them on purpose.
    package static func exposure(
        of configuration: HostConfiguration, flags: HostConfiguration.Flags
    ) -> [ConfigurationProblem] {
        var places = HostConfiguration.files(flags: flags).filter(\.exists).map(\.path)
        if let folders = try? configuration.settings().folders { places += exposed(folders) }
        return exposure(of: places)
    }

    static func exposed(_ folders: HostSettings.Folders) -> [String] {
        [folders.config, "\(folders.config)/keys", folders.data, folders.state]
    }

    /// The places of stores that other users can write to, but for those that the other function finds.
    static func exposure(of slot: StoreSlot, _ snapshot: RouterSnapshot) -> [Finding] {
        guard let open = try? slot.openIfNeeded(), open.store.properties.latency == .disk else { return [] }
        var seen = Set(exposed(snapshot.settings.folders).compactMap { FileTrust.weakness(of: $0)?.path })
        return open.location.paths.compactMap { place in
            guard let weakness = FileTrust.weakness(of: place), seen.insert(weakness.path).inserted else { return nil }
            return Finding(
                .access, "store '\(open.name)' is in \(PathText.shown(place)): \(weakness.finding)",
                hint: weakness.hint,
                isProblem: true)
        }
    }

    /// The same for given files and folders.
    package static func exposure(of places: [String]) -> [ConfigurationProblem] {
        var seen: Set<String> = []
        return places.filter { !ConfigurationDocument.isNullDevice($0) }.compactMap { place in
            guard let weakness = FileTrust.weakness(of: place), seen.insert(weakness.path).inserted else { return nil }
            let origin = ConfigurationOrigin(layer: .default, source: PathText.shown(place), line: nil, column: nil)
            return ConfigurationProblem(path: [], origin: origin, message: weakness.finding, hint: weakness.hint)
        }
    }
}

extension RouterSnapshot {
    /// The keys of catalogs with a sync policy, if the configuration names no transport, which their values need.
    var unsyncedKeys: [Finding] {
        guard transport == nil else { return [] }
        let addresses = Set(
            [catalog, described].compactMap(\.self).flatMap(\.entries).filter {
                $0.value.descriptor.syncPolicy != .never
            }.map { "\($0.key)" }
        ).sorted()
        guard let first = addresses.first else { return [] }
        let keys = addresses.count == 1 ? "'\(first)' has" : "\(addresses.count) keys, such as '\(first)', have"
        return [
            Finding(
                .sync, "\(keys) a sync policy, but the configuration names no sync transport, so nothing is synced",
                hint: "to sync them: ld-host config set sync.transport COMPONENT, then: ld-host sync init")
        ]
    }
}
