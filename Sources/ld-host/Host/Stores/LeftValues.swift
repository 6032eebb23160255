internal import HostGround
internal import HostPlugins
package import LocalDataAPI
internal import Synchronization

/// Values of a domain in a store that does not serve it, so that no app finds them there: a change of the configuration
/// left them behind.
package struct LeftValues: Sendable {
    /// The store that holds them.
    package let store: String
    /// The store that serves the domain.
    package let serving: String
    /// The domain's name.
    package let domain: String
    /// Their namespaces, in order.
    package let places: [StorageNamespace]
    /// The number of values; `nil` if they were not counted.
    package let count: Int?
    /// Whether an operator has confirmed that they stay there.
    package let isAcknowledged: Bool
    /// Whether other programs use that store too.
    private let isShared: Bool
    /// Whether the serving store is persistent, and as well protected.
    private let isKept: Bool

    fileprivate init(
        _ domain: String, in open: OpenStore, servedBy serving: StoreSlot, places: [StorageNamespace: ListedNames],
        isCounted: Bool = false, isAcknowledged: Bool = false
    ) {
        store = open.name
        self.serving = serving.settings.name
        let server = try? serving.openIfNeeded()
        isKept = server.map { $0.store.properties.isDurable && ($0.isKeychain || !open.isKeychain) } ?? true
        self.domain = domain
        self.places = places.keys.sorted { "\($0)" < "\($1)" }
        count = isCounted ? Self.count(places, open) : nil
        self.isAcknowledged = isAcknowledged
        isShared = open.store.properties.isKeychain
    }

    private static func count(_ places: [StorageNamespace: ListedNames], _ open: OpenStore) -> Int? {
        var count = 0
        do throws(StorageError) {
            for (place, names) in places {
                try open.store.forEachName(names, inPagesOf: place) { (_) throws(StorageError) in count += 1 }
            }
            return count
        } catch {
            return nil
        }
    }

    /// The command that moves them to the serving store.
    package var advice: String {
        guard isKept else {
            return
                "they are found when '\(store)' serves the domain again: "
                + ConfigurationPath.command(mapping: domain, to: store)
        }
        let copy = "copy them: ld-host store copy \(store) \(serving) --domain \(domain)"
        return isShared
            ? "\(copy); not with --move, which also removes other programs' values"
            : "\(copy) --move"
    }

    /// The error for a value of this domain that is not in the serving store.
    fileprivate func error(for address: String) -> StorageError {
        StorageError(
            .invalidConfiguration,
            "'\(address)' is not stored in '\(serving)', which serves '\(domain)' now; store '\(store)' has it",
            hint: advice)
    }

    /// The same, and the command that leaves them where they are and stops the report.
    package var choice: String {
        "\(advice)\(isShared ? ". Then" : "; or leave them there"): ld-host store forget \(store) --domain \(domain)"
    }
}

extension RouterSnapshot {
    /// The stores that may have values of domains that they do not serve: the configured ones, and those of earlier
    /// configurations.
    var holders: [StoreSlot] {
        let former = RouteHistory(settings.folders).stores.filter { slot(ofStore: $0) == nil }
        return stores + former.map(slotOrComponent)
    }

    /// The values left in one store, by domain. May wait.
    package func leftValues(in holder: StoreSlot) -> [LeftValues] {
        // Other findings report a store that cannot be opened.
        (try? holder.openIfNeeded()).map { leftValues(in: $0) } ?? []
    }

    /// The values left in an open store, by domain. May wait.
    fileprivate func leftValues(in open: OpenStore, counted: Bool = false) -> [LeftValues] {
        guard open.store.abilities.enumeration != nil else { return [] }
        /// Whether another store serves a domain. One under another name may keep the same values.
        func isLeft(_ domain: String, _ route: HostSettings.Route) -> Bool {
            guard route.store.name != open.name else { return false }
            guard let serving = try? slot(for: domain).openIfNeeded(), serving.keepsSameValues(as: open) else {
                return true
            }
            return (serving.sealing == nil) != (open.sealing == nil)
        }
        var found: [String: [StorageNamespace: ListedNames]] = [:]
        try? open.store.forEachPlace { place in
            if let route = settings.routes[place.domain], isLeft(place.domain, route) {
                found[place.domain, default: [:]][place] = .all
            }
            return true
        }
        for (domain, route) in settings.routes where isLeft(domain, route) {
            for (place, known) in knownPlaces(of: domain, in: open) where found[domain]?[place] == nil {
                guard hasLeft(known.names, inFolder: place, open, servedBy: route.store) else { continue }
                found[domain, default: [:]][place] = known.names
            }
        }
        guard !found.isEmpty else { return [] }
        let acknowledged = RouteHistory(settings.folders).acknowledged
        return found.sorted { $0.key < $1.key }.compactMap { domain, places in
            (try? slot(for: domain)).map { serving in
                LeftValues(
                    domain, in: open, servedBy: serving, places: places, isCounted: counted,
                    isAcknowledged: acknowledged.contains { $0.store == open.name && $0.domain == domain })
            }
        }
    }

    /// Whether a store has written values in a namespace with its own folder that the serving store cannot open, or
    /// would hand out sealed. All stores of a component keep it in the same folder. Never asks for a passphrase. May
    /// wait.
    private func hasLeft(
        _ names: ListedNames, inFolder place: StorageNamespace, _ open: OpenStore, servedBy serving: HostSettings.Store
    ) -> Bool {
        let isServed = serving.component == open.component && open.sealing == nil
        guard place.directory != nil, !isServed || serving.sealing?.source.asksForIt == false,
            let sealers = try? sealers(in: place, names, of: open)
        else { return false }
        return sealers.contains(open.sealing == nil ? nil : open.name)
    }

    /// The value at an address in an open store other than the serving one. May wait.
    fileprivate func leftValue(at address: StorageAddress, in open: OpenStore) throws(StorageError) -> LeftValues? {
        let serving = try slot(for: address.place.domain)
        let handle = HeldHandle(open.store, try open.store.resolve(address))
        guard try open.store.exists(handle.handle) else { return nil }
        if address.place.directory != nil,
            !hasLeft(.only([address.name]), inFolder: address.place, open, servedBy: serving.settings)
        {
            return nil
        }
        let left = RouteHistory.Left(store: open.name, domain: address.place.domain)
        return LeftValues(
            address.place.domain, in: open, servedBy: serving, places: [address.place: .all],
            isAcknowledged: RouteHistory(settings.folders).acknowledged.contains(left))
    }

    /// Whether a former store of a domain has none of its values, as far as it lists them. May wait.
    fileprivate func hasNothing(of domain: String, _ open: OpenStore) throws(StorageError) -> Bool {
        guard open.store.abilities.enumeration != nil else { return false }
        if open.isGoneWithProcess { return true }
        return leftValues(in: open).allSatisfy { $0.domain != domain }
    }

    /// The stores that may have values of a domain that another one serves. Nobody has to unlock a keychain for a
    /// domain that keychains never serve.
    package func holders(of domain: String?) -> [OpenStore] {
        holders.compactMap { slot in
            if let domain, slot.settings.name == settings.routes[domain]?.store.name { return nil }
            guard let open = try? slot.openIfNeeded() else { return nil }
            return domain == nil || domain == "keychain" || !open.store.properties.isKeychain ? open : nil
        }
    }
}

extension StoreAccess {
    /// The values of one domain or of all that are in stores that do not serve it, counted.
    package func leftValues(ofDomain domain: String? = nil) async throws(StorageError) -> [LeftValues] {
        return try await inHolders(of: domain) { open in snapshot.leftValues(in: open, counted: true) }
            .filter { (domain == nil || $0.domain == domain) && !$0.isAcknowledged }
    }

    /// Searches each store that may have values of a domain, or of any. A store that does not answer counts as empty,
    /// so that the other results are available.
    private func inHolders(
        of domain: String?, _ look: @escaping @Sendable (OpenStore) throws(StorageError) -> [LeftValues]
    ) async throws(StorageError) -> [LeftValues] {
        var found: [LeftValues] = []
        for open in try await onIOThread({ () throws(StorageError) in snapshot.holders(of: domain) }) {
            let left = try? await open.wait("searching store '\(open.name)'") {
                () throws(StorageError) in try look(open)
            }
            found += left ?? []
        }
        return found
    }

    /// The error for a missing value: `notFound`, or `invalidConfiguration` if another store has it.
    package func notStored(_ key: AnyStorageKey) async -> StorageError {
        let address = "\(key.descriptor.domain)/\(key.descriptor.name)"
        guard let left = try? await leftValues(of: key).first(where: { !$0.isAcknowledged }) else {
            return StorageError(.notFound, "'\(address)' is not stored")
        }
        return left.error(for: address)
    }

    /// Looks for an absent value where its domain's values were before the configuration was changed.
    ///
    /// - Throws: `invalidConfiguration` if a former store has it: nobody may take it for absent. One that cannot be
    ///   read counts as empty.
    package func requireAbsent(_ resolved: ResolvedKey) async throws(StorageError) {
        let address = resolved.address
        guard let stores = snapshot.formerStores[address.place.domain] else { return }
        for store in stores where store != resolved.open.name {
            let former = RouteHistory.Left(store: store, domain: address.place.domain)
            guard !snapshot.emptied.withLock({ $0.contains(former) }) else { continue }
            let slot = snapshot.slotOrComponent(store)
            guard let open = try? await onIOThread({ () throws(StorageError) in try slot.openIfNeeded() }) else {
                continue
            }
            let left = try? await open.wait("searching store '\(store)'") { () throws(StorageError) in
                if try snapshot.hasNothing(of: former.domain, open) {
                    _ = snapshot.emptied.withLock { $0.insert(former) }
                    return LeftValues?.none
                }
                return try snapshot.leftValue(at: address, in: open)
            }
            if let left, isStillFormer(former) { throw left.error(for: "\(address)") }
        }
    }

    /// Whether what a store has counts: since this snapshot was made, somebody may have confirmed that it stays there,
    /// or may be switching from or to it.
    private func isStillFormer(_ former: RouteHistory.Left) -> Bool {
        let settings = snapshot.settings
        return RouteHistory(settings.folders).formerRoutes[former.domain]?.contains(former.store) == true
            && !SwitchIntent.stores(of: former.domain, settings).contains(former.store)
    }

    /// The stores, other than the serving one, that have a key's value.
    private func leftValues(of key: AnyStorageKey) async throws(StorageError) -> [LeftValues] {
        let place = try snapshot.settings.place(of: key.descriptor.domain)
        let address = StorageAddress(place, name: key.descriptor.name)
        let unfinished = SwitchIntent.stores(of: place.domain, snapshot.settings)
        return try await inHolders(of: place.domain) { open throws(StorageError) in
            guard !unfinished.contains(open.name) else { return [] }
            return try snapshot.leftValue(at: address, in: open).map { [$0] } ?? []
        }
    }
}
