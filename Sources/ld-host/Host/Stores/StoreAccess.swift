internal import HostGround
internal import HostPlugins
package import LocalDataAPI

/// The stores of one snapshot, as everything below the router uses them: finds the store of a key, and reads and writes
/// its value through the layers that protect it.
package struct StoreAccess: Sendable {
    package let snapshot: RouterSnapshot

    package init(snapshot: RouterSnapshot) {
        self.snapshot = snapshot
    }

    /// The key's open store and handle, resolved once per snapshot.
    ///
    /// - Throws: Why the key cannot be used here: its address, a catalog, the device's role, the configuration, or a
    ///   store that cannot be opened.
    package func resolve(_ key: KeyReference) async throws(StorageError) -> ResolvedKey {
        if let resolved = known(key.slot) { return resolved }
        let resolved = try await resolution(of: key, mustBeListed: true)
        // A refused key may be usable the next time. A value that may not be the key's is looked at before it is read.
        if resolved.refusal == nil, !resolved.isDoubtful { key.slot.add(resolved, for: snapshot.id) }
        return resolved
    }

    /// Resolves a key that need not be in a catalog, such as the source of a migration.
    package func resolveUnlisted(_ key: KeyReference) async throws(StorageError) -> ResolvedKey {
        if let resolved = known(key.slot) { return resolved }
        return try await resolution(of: key, mustBeListed: false)
    }

    private func known(_ slot: KeyResolutionSlot) -> ResolvedKey? {
        slot.resolution(for: snapshot.id).map { Unmanaged<ResolvedKey>.fromOpaque($0.toOpaque()).takeUnretainedValue() }
    }

    private func resolution(
        of key: KeyReference, mustBeListed: Bool
    ) async throws(StorageError) -> ResolvedKey {
        let place = if let known = key.place { known } else { try snapshot.settings.place(of: key.domain) }
        let address = StorageAddress(place, name: key.name)
        try address.validate()
        try check(key, at: address, mustBeListed: mustBeListed)
        let open = try await openStore(for: address.place.domain)
        try await keepFromHostKeys(address, in: open)
        let protection = try await protection(of: key.security, at: address, in: open)
        let handle = try open.store.resolve(address)
        let keepsAttributes = open.store.abilities.attributes != nil
        var layers: [SealingLayer] = []
        var refusal: StorageError?
        switch protection.outcome {
        case .layers(let found):
            layers = found
            refusal = key.undeclared?.refusal
        case .refused(let error): refusal = error
        }
        let attributes =
            !keepsAttributes && layers.isEmpty
            ? nil
            : ValueAttributes(
                contentType: key.serializer.contentType, serializer: key.serializer.rawValue,
                versionTag: key.versionTag,
                appVersion: snapshot.settings.appVersion, owner: key.owner.isEmpty ? nil : key.owner)
        return ResolvedKey(
            open: open, handle: handle, address: address, layers: layers,
            attributes: attributes, lifetime: key.lifetime, refusal: refusal,
            isDoubtful: mustBeListed ? try await isDoubtful(key, at: address) : false,
            recognizesSeals: key.undeclared != nil || ![.data, .custom].contains(key.serializer))
    }

    /// Whether another place may have a newer value of a key, or another owner's key its place.
    private func isDoubtful(_ key: KeyReference, at address: StorageAddress) async throws(StorageError) -> Bool {
        guard !key.owner.isEmpty else { return false }
        let (places, folders) = (snapshot.places, snapshot.settings.folders)
        if places.isLoaded(folders) {
            places.refresh(folders)
        } else {
            try await onIOThread { () throws(StorageError) in places.refresh(folders) }
        }
        let own = PlaceHistory.Key(app: snapshot.settings.appID, owner: key.owner, name: key.name)
        let isListed = snapshot.isCatalogued(address)
        if places.record(of: own)?.isSuspect(address.place, of: key.domain) == true { return true }
        return !isListed && !places.otherOwners(of: address, than: own).isEmpty
    }

    /// How values at an address are protected. Known without waiting only if no layer is needed.
    package func protection(
        of security: SecurityPolicy, at address: StorageAddress, in open: OpenStore
    ) async throws(StorageError) -> Protection {
        if security == .none, open.sealing == nil, address.place.domain != "encryptedFileSystem" {
            return snapshot.protection(of: security, at: address, in: open)
        }
        return try await onIOThread { () throws(StorageError) in
            snapshot.protection(of: security, at: address, in: open)
        }
    }

    /// The store that serves a domain, opened at its first use.
    package func openStore(for domain: String) async throws(StorageError) -> OpenStore {
        let slot = try snapshot.slot(for: domain)
        if let current = slot.current { return current }
        return try await onIOThread { () throws(StorageError) in try slot.openIfNeeded() }
    }

    /// - Throws: `securityApplicationFailed` if the address holds, or held, host keys.
    private func keepFromHostKeys(
        _ address: StorageAddress, in open: OpenStore
    ) async throws(StorageError) {
        guard address.place.domain == "keychain" else { return }
        let isReserved = try await open.read("looking for '\(address)'") { (_) throws(StorageError) in
            try snapshot.isReserved(address, in: open)
        }
        guard isReserved else { return }
        throw StorageError(
            .securityApplicationFailed, "'\(address)' keeps keys of the host; it is not read or written as a value",
            hint: "see: ld-host keys list")
    }

    private func check(
        _ key: KeyReference, at address: StorageAddress, mustBeListed: Bool
    ) throws(StorageError) {
        if mustBeListed, let catalog = snapshot.catalog, catalog.entries[address] == nil,
            !snapshot.declared.contains(address, snapshot.settings)
        {
            throw StorageError(
                .unregisteredKey,
                "'\(address)' is in none of the registered catalogs: \(catalog.catalogs.joined(separator: ", "))",
                hint: "add the key to a catalog")
        }
        try key.lifetime?.requirePositive(of: "'\(address)'")
        guard !key.availability.isAvailable(on: snapshot.settings.role) else { return }
        throw StorageError(
            key.availability == .phoneOnly ? .phoneOnlyKeyAccessedOnWatch : .watchOnlyKeyAccessedOnPhone,
            "'\(address)' is available as \(key.availability.rawValue), and this device's role is "
                + "'\(snapshot.settings.role.rawValue)'",
            hint: "see device.role in the configuration")
    }
}

extension StoreAccess {
    /// The store, component and plugin that serve a domain, and why; `nil` for a domain of the host's own.
    package func route(of domain: String) async throws -> DomainRoute? {
        guard var route = try await configuredRoute(of: domain) else { return nil }
        let (open, registry) = (try await openStore(for: domain), snapshot.registry)
        route.choice = try await onIOThread { () throws(StorageError) in
            registry.reason(for: open.plugin, offering: open.component, .storage)
        }
        return route
    }

    /// The same without the reason why this plugin serves the component.
    package func configuredRoute(of domain: String) async throws -> DomainRoute? {
        guard let route = snapshot.settings.routes[domain] else {
            _ = try snapshot.slot(for: domain)
            return nil
        }
        let open = try await openStore(for: domain)
        return DomainRoute(
            domain: domain, store: open.name, component: open.component, plugin: open.plugin,
            origin: route.origin == "default" ? nil : route.origin)
    }
}
