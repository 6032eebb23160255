internal import LocalDataAPI

extension StorageRouter {
    /// The key's open store and handle, found once for each snapshot.
    ///
    /// - Throws: Whatever keeps the key from being used here: its address, a catalog, the device's role, the
    ///   configuration, or a store that cannot be opened.
    func resolve(_ key: KeyReference) async throws(StorageError) -> ResolvedKey {
        if let resolved = known(key.slot) { return resolved.takeUnretainedValue() }
        let snapshot = try await snapshot()
        let address = StorageAddress(try snapshot.settings.place(of: key.domain), name: key.name)
        try address.validate()
        try check(key, at: address, snapshot)
        let open = try await openStore(for: address.place.domain, in: snapshot)
        let handle = try open.store.resolve(address)
        let attributes =
            open.store.abilities.attributes == nil
            ? nil
            : ValueAttributes(
                contentType: key.serializer.contentType, serializer: key.serializer.rawValue,
                appVersion: snapshot.settings.appVersion, owner: key.owner.isEmpty ? nil : key.owner)
        let resolved = ResolvedKey(
            snapshot: snapshot.id, open: open, handle: handle, address: address, attributes: attributes,
            refusal: snapshot.refusal(of: key.security, at: address))
        key.slot.add(resolved)
        return resolved
    }

    /// The same for a typed key; one that is known costs no reference to its parts.
    @inline(__always)
    func resolve<Value>(_ key: StorageKey<Value>) async throws(StorageError) -> ResolvedKey {
        if let resolved = known(key.slot) { return resolved.takeUnretainedValue() }
        return try await resolve(KeyReference(key))
    }

    /// The store that serves a domain, opened if this is its first use.
    func openStore(for domain: String, in snapshot: RouterSnapshot) async throws(StorageError) -> OpenStore {
        let slot = try snapshot.slot(for: domain)
        if let current = slot.current { return current }
        return try await onIOThread { () throws(StorageError) in try slot.openIfNeeded() }
    }

    private func check(
        _ key: KeyReference, at address: StorageAddress, _ snapshot: RouterSnapshot
    ) throws(StorageError) {
        if let catalog = snapshot.catalog, catalog.entries[address] == nil {
            throw StorageError(
                .unregisteredKey,
                "'\(address)' is in none of the registered catalogs: \(catalog.catalogs.joined(separator: ", "))",
                hint: "add the key to a catalog")
        }
        guard !key.availability.isAvailable(on: snapshot.settings.role) else { return }
        throw StorageError(
            key.availability == .phoneOnly ? .phoneOnlyKeyAccessedOnWatch : .watchOnlyKeyAccessedOnPhone,
            "'\(address)' is available as \(key.availability.rawValue), and this device's role is "
                + "'\(snapshot.settings.role.rawValue)'",
            hint: "see device.role in the configuration")
    }
}
