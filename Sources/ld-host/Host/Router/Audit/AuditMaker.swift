internal import HostGround
internal import HostMigration
internal import HostPlugins
internal import HostSealing
internal import HostStores
internal import LocalDataAPI

/// Collects an audit's facts from the stores.
struct AuditMaker {
    /// The keys of one namespace, or of one domain that has none here.
    private struct Site {
        let label: String
        /// The scope whose stored names are listed.
        var listed: SelectedScope?
        /// The keys of catalogs.
        var keys: [(key: AnyStorageKey, address: StorageAddress)] = []
        /// Keys without a namespace.
        var unplaced: [AuditEntry] = []
        let place: StorageNamespace?
    }

    let access: StoreAccess
    let selection: StorageSelection
    private var failures: [StorageError] = []
    /// Stores that did not answer in time, with the error: each is waited for only once.
    private(set) var silent: [String: StorageError] = [:]

    private var snapshot: RouterSnapshot { access.snapshot }

    init(_ access: StoreAccess, selection: StorageSelection) {
        self.access = access
        self.selection = selection
    }

    mutating func report(
        _ origin: StorageAuditReport.Origin, keeping limit: Int?, _ take: (AuditEntry) -> Void
    ) async throws -> StorageAuditReport {
        var (entries, locations) = ([AuditEntry](), [AuditLocation]())
        for site in try await sites() {
            var location = AuditLocation(site.label)
            await visit(site) { entry in
                location.add(entry)
                take(entry)
                if entry.catalog != nil || location.uncataloged <= limit ?? .max { entries.append(entry) }
            }
            if location.keys > 0 { locations.append(location) }
        }
        var routes: [StorageAuditReport.Route] = []
        for (domain, route) in snapshot.settings.routes.sorted(by: { $0.key < $1.key })
        where selection.domain == nil || selection.domain == domain {
            routes.append(await describe(route, domain))
        }
        let quarantine = await quarantined()
        return StorageAuditReport(
            origin: origin, entries: entries, locations: locations, routes: routes, failures: failures.map(\.message),
            quarantine: quarantine)
    }

    /// A line for each value in quarantine of the selected domains.
    private mutating func quarantined() async -> [String] {
        var lines: [String] = []
        for slot in snapshot.stores where silent[slot.settings.name] == nil {
            // Failures to open a store are in its route.
            guard let open = try? await onIOThread({ () throws(StorageError) in try slot.openIfNeeded() }) else {
                continue
            }
            do throws(StorageError) {
                let items = try await Quarantine(access: access).items(in: open)
                failures += items.failures
                for item in items.found {
                    let domain = try? StorageAddress.parts(of: item.record.key.address).domain
                    guard selection.domain == nil || selection.domain == domain else { continue }
                    let time = UTCTime.seconds(item.record.date / 1_000_000_000)
                    lines.append("\(item.record.key.address) since \(time): \(item.record.reason)")
                }
            } catch { failures.append(error) }
        }
        return lines
    }

    /// The sites to examine, ordered by location.
    private mutating func sites() async throws -> [Site] {
        var sites: [StorageNamespace: Site] = [:]
        for scope in try await scopes() {
            guard let place = try? snapshot.settings.place(of: scope.domain) else { continue }
            sites[place] = Site(label: "\(scope.domain)", listed: scope, place: place)
        }
        var catalogs = snapshot.declared.entries(snapshot.settings).mapValues(\.key)
        catalogs.merge(snapshot.described.entries) { _, described in described }
        catalogs.merge(snapshot.catalog?.entries ?? [:]) { _, registered in registered }
        for (address, key) in catalogs where isSelected(key, address, sites) {
            let label = "\(key.descriptor.domain)"
            sites[address.place, default: Site(label: label, place: address.place)].keys.append((key, address))
        }
        var unplaced: [String: Site] = [:]
        for (key, catalog, error) in (snapshot.catalog?.unplaced ?? []) + snapshot.described.unplaced
        where selection.contains(key.descriptor.domain, key.descriptor.name) {
            let label = "\(key.descriptor.domain)"
            unplaced[label, default: Site(label: label, place: nil)].unplaced.append(
                unplacedEntry(for: key, in: catalog, error))
        }
        return (Array(sites.values) + Array(unplaced.values)).sorted { $0.label < $1.label }
    }

    private func isSelected(
        _ key: AnyStorageKey, _ address: StorageAddress, _ sites: [StorageNamespace: Site]
    ) -> Bool {
        // A domain with an explicit scope and one with a configured scope may be the same namespace.
        guard case .scope(_, let prefix) = selection else {
            return selection.contains(key.descriptor.domain, key.descriptor.name)
        }
        return sites[address.place] != nil && address.name.utf8.starts(with: prefix.utf8)
    }

    /// The scopes that hold values.
    private mutating func scopes() async throws -> [SelectedScope] {
        do {
            if case .scope(let domain, _) = selection { _ = try snapshot.settings.place(of: domain) }
            guard selection == .everything else { return try await access.scopes(of: selection).scopes }
            let found = try await access.populatedPlaces(besides: Set(silent.keys))
            for (store, error) in found.failures { note(error, of: store) }
            return found.places.map(SelectedScope.init)
        } catch let error as StorageError where error.code != .invalidConfiguration {
            note(error, of: selection.domain.flatMap { snapshot.settings.routes[$0]?.store.name })
            return []
        }
    }

    /// Passes the keys of a site, from catalogs and from the store, ordered by their names' bytes.
    private mutating func visit(_ site: Site, _ body: (AuditEntry) -> Void) async {
        for entry in site.unplaced { body(entry) }
        var keys = site.keys.sorted {
            $0.address.name.utf8.lexicographicallyPrecedes($1.address.name.utf8)
        }[...]
        let access = access
        let store = site.place.flatMap { snapshot.settings.routes[$0.domain]?.store.name }
        if let listed = site.listed, let place = site.place, silent[store ?? ""] == nil {
            let domain = listed.domain
            do {
                try await access.forEachName(in: listed) { name in
                    while let next = keys.first, !name.utf8.lexicographicallyPrecedes(next.address.name.utf8) {
                        keys.removeFirst()
                        body(await entry(for: next.key, at: next.address))
                        if name.hasBytes(of: next.address.name) { return }
                    }
                    let descriptor = StorageKeyDescriptor(
                        name: name, domain: domain, security: domain.ownPolicy, serializer: .data, owner: "",
                        description: "")
                    body(
                        await entry(
                            for: AnyStorageKey(descriptor, undeclared: UndeclaredKey()),
                            at: StorageAddress(place, name: name)))
                }
            } catch {
                note(StorageError(wrapping: error), of: store)
            }
        }
        for (key, address) in keys { body(await entry(for: key, at: address)) }
    }

    /// Records what keeps a part of the report from being made, once.
    private mutating func note(_ error: StorageError, of store: String?) {
        if let store, error.code == .timedOut, silent.updateValue(error, forKey: store) != nil { return }
        if !failures.contains(where: { $0.message == error.message }) { failures.append(error) }
    }

    private func describe(_ route: HostSettings.Route, _ domain: String) async -> StorageAuditReport.Route {
        func made(_ open: OpenStore?, _ problem: String?) -> StorageAuditReport.Route {
            StorageAuditReport.Route(
                domain: domain, store: route.store.name, component: route.store.component, plugin: open?.plugin,
                why: route.origin, durability: open?.store.properties.durability,
                sealing: route.store.sealing.map { "\($0.cipher): \($0.source.protection)" }, problem: problem)
        }
        do throws(StorageError) {
            return made(try await access.openStore(for: domain), nil)
        } catch {
            return made(nil, error.message)
        }
    }

    private mutating func entry(for key: AnyStorageKey, at address: StorageAddress) async -> AuditEntry {
        let (descriptor, isCataloged) = (key.descriptor, key.undeclared == nil)
        var policy = "\(descriptor.security)"
        let route = snapshot.settings.routes[address.place.domain]
        var open: OpenStore?
        var attributes: ValueAttributes?
        var isStored: Bool?
        var enforcement = AuditEntry.Enforcement.refused
        var reason: String?
        var isJudged = false
        do throws(StorageError) {
            let store = try await access.openStore(for: address.place.domain)
            open = store
            if let error = silent[store.name] { throw error }
            let protection = try await access.protection(of: descriptor.security, at: address, in: store)
            (enforcement, reason) = Self.enforcement(of: protection)
            isJudged = true
            (isStored, attributes) = try await look(at: address, in: store)
            if !isCataloged, isStored == true, case .layers(let layers) = protection.outcome,
                layers.count == (store.sealing == nil ? 0 : 1),
                let sealed = try await sealedPolicy(at: address, in: store, layers)
            {
                (policy, enforcement, reason) = (sealed, .enforced, "its bytes say that they are sealed")
            }
        } catch {
            // Policy errors are reported with their key.
            if let open, isJudged || error.code == .timedOut { note(error, of: open.name) }
            reason = reason ?? error.message
        }
        return AuditEntry(
            address: "\(descriptor.domain)/\(descriptor.name)",
            catalog: isCataloged ? descriptor.catalog ?? catalogName(of: address) : nil,
            description: descriptor.description, owner: descriptor.owner, type: descriptor.valueType,
            serializer: isCataloged ? descriptor.serializer.rawValue : attributes?.serializer ?? "unknown",
            policy: policy,
            enforcement: enforcement, reason: reason,
            sync: descriptor.syncPolicy.rawValue, syncProblem: syncProblem(of: descriptor),
            availability: descriptor.availability.rawValue,
            store: route?.store.name, component: route?.store.component, plugin: open?.plugin, why: route?.origin,
            isStored: isStored, size: attributes?.size, modified: attributes?.modified,
            expires: attributes?.expires, appVersion: attributes?.appVersion)
    }

    /// How a policy is applied, in the report's words.
    private static func enforcement(of protection: Protection) -> (AuditEntry.Enforcement, String?) {
        switch protection.outcome {
        case .refused(let error): (.refused, error.message)
        case .layers(let layers) where layers.isEmpty: (.none, nil)
        case .layers: protection.advisory.map { (.advisory, $0) } ?? (.enforced, nil)
        }
    }

    private func unplacedEntry(
        for key: AnyStorageKey, in catalog: String, _ error: StorageError
    ) -> AuditEntry {
        let descriptor = key.descriptor
        return AuditEntry(
            address: "\(descriptor.domain)/\(descriptor.name)", catalog: catalog, description: descriptor.description,
            owner: descriptor.owner, type: descriptor.valueType, serializer: descriptor.serializer.rawValue,
            policy: "\(descriptor.security)", enforcement: .refused, reason: error.message,
            sync: descriptor.syncPolicy.rawValue, syncProblem: syncProblem(of: descriptor),
            availability: descriptor.availability.rawValue, store: nil,
            component: nil, plugin: nil, why: nil, isStored: nil, size: nil, modified: nil, expires: nil,
            appVersion: nil)
    }

    private func syncProblem(of key: StorageKeyDescriptor) -> String? {
        key.syncPolicy == .never || snapshot.transport != nil ? nil : "the configuration names no sync transport"
    }

    /// The policy that the start of a value states; `nil` if it is not sealed.
    private func sealedPolicy(
        at address: StorageAddress, in open: OpenStore, _ outer: [SealingLayer]
    ) async throws(StorageError) -> String? {
        try await open.wait("looking at '\(address)'") { () throws(StorageError) in
            guard case .header(let header) = try SealedValue(at: address, in: open, layers: outer).start() else {
                return nil
            }
            return "encrypted (\(header.cipher), \(header.derivation.function))"
        }
    }

    private func look(
        at address: StorageAddress, in open: OpenStore
    ) async throws(StorageError) -> (Bool, ValueAttributes?) {
        try await open.write("looking at '\(address)'") { (store) throws(StorageError) in
            let handle = try store.resolve(address)
            defer { store.release(handle) }
            guard try store.exists(handle) else { return (false, nil) }
            return (true, store.abilities.attributes == nil ? nil : try store.attributes(of: handle))
        }
    }

    private func catalogName(of address: StorageAddress) -> String? {
        snapshot.catalog?.catalog(of: address) ?? snapshot.described.catalog(of: address)
            ?? snapshot.declared.entries(snapshot.settings)[address]?.catalog
    }
}
