internal import LocalDataAPI

/// Asks the stores what an audit wants to know.
struct AuditMaker {
    let router: StorageRouter
    let snapshot: RouterSnapshot
    private var failures: [StorageError] = []
    /// Stores that did not answer in time, with the error: each is waited for once.
    private var silent: [String: StorageError] = [:]

    init(router: StorageRouter, snapshot: RouterSnapshot) {
        self.router = router
        self.snapshot = snapshot
    }

    mutating func report() async throws(StorageError) -> StorageAuditReport {
        var keys = snapshot.described.entries
        keys.merge(snapshot.catalog?.entries ?? [:]) { _, registered in registered }
        var entries: [AuditEntry] = []
        for (address, key) in keys { entries.append(await entry(for: key, at: address)) }
        entries += await uncataloged(except: Set(keys.keys))
        for (key, catalog, error) in (snapshot.catalog?.unplaced ?? []) + snapshot.described.unplaced {
            entries.append(unplacedEntry(for: key, in: catalog, error))
        }
        entries.sort { $0.address < $1.address }
        var routes: [StorageAuditReport.Route] = []
        for domain in snapshot.settings.routes.keys.sorted() {
            if let route = snapshot.settings.routes[domain] { routes.append(await describe(route, domain)) }
        }
        return StorageAuditReport(entries: entries, routes: routes, failures: failures.map(\.message))
    }

    /// Notes what keeps a part of the report from being made, once.
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
            return made(try await router.openStore(for: domain, in: snapshot), nil)
        } catch {
            return made(nil, error.message)
        }
    }

    /// Stored values that no catalog lists.
    private mutating func uncataloged(except known: Set<StorageAddress>) async -> [AuditEntry] {
        let domains: [StorageDomain]
        do {
            let found = try await router.populatedDomains(besides: Set(silent.keys))
            domains = found.domains
            for (store, error) in found.failures { note(error, of: store) }
        } catch {
            note((error as? StorageError) ?? StorageError(.unknown, "\(error)"), of: nil)
            return []
        }
        var entries: [AuditEntry] = []
        for domain in domains {
            let store = snapshot.settings.routes[domain.name]?.store.name
            guard let place = try? snapshot.settings.place(of: domain), silent[store ?? ""] == nil else { continue }
            let names: [String]
            do { names = try await router.names(in: domain) } catch {
                note((error as? StorageError) ?? StorageError(.unknown, "\(error)"), of: store)
                continue
            }
            for name in names {
                let address = StorageAddress(place, name: name)
                guard !known.contains(address) else { continue }
                let descriptor = StorageKeyDescriptor(
                    name: name, domain: domain, security: domain.ownPolicy, serializer: .data, owner: "",
                    description: "")
                entries.append(await entry(for: AnyStorageKey(descriptor), at: address, isCataloged: false))
            }
        }
        return entries
    }

    private mutating func entry(
        for key: AnyStorageKey, at address: StorageAddress, isCataloged: Bool = true
    ) async -> AuditEntry {
        let descriptor = key.descriptor
        let route = snapshot.settings.routes[address.place.domain]
        var open: OpenStore?
        var attributes: ValueAttributes?
        var isStored: Bool?
        var enforcement = AuditEntry.Enforcement.refused
        var reason: String?
        var isJudged = false
        do throws(StorageError) {
            let store = try await router.openStore(for: address.place.domain, in: snapshot)
            open = store
            if let error = silent[store.name] { throw error }
            let protection = try await router.protection(of: descriptor.security, at: address, in: store, snapshot)
            (enforcement, reason) = Self.enforcement(of: protection)
            isJudged = true
            (isStored, attributes) = try await look(at: address, in: store)
        } catch {
            // What is wrong with a policy stands with its key.
            if let open, isJudged || error.code == .timedOut { note(error, of: open.name) }
            reason = reason ?? error.message
        }
        return AuditEntry(
            address: "\(descriptor.domain)/\(descriptor.name)",
            catalog: isCataloged ? descriptor.catalog ?? catalogName(of: address) : nil,
            description: descriptor.description, owner: descriptor.owner, type: descriptor.valueType,
            serializer: isCataloged ? descriptor.serializer.rawValue : attributes?.serializer ?? "unknown",
            policy: "\(descriptor.security)",
            enforcement: enforcement, reason: reason,
            sync: descriptor.syncPolicy.rawValue, availability: descriptor.availability.rawValue,
            store: route?.store.name, component: route?.store.component, plugin: open?.plugin, why: route?.origin,
            isStored: isStored, size: attributes?.size, modified: attributes?.modified,
            appVersion: attributes?.appVersion)
    }

    /// What becomes of a policy, in the report's words.
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
            sync: descriptor.syncPolicy.rawValue, availability: descriptor.availability.rawValue, store: nil,
            component: nil, plugin: nil, why: nil, isStored: nil, size: nil, modified: nil, appVersion: nil)
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
    }
}
