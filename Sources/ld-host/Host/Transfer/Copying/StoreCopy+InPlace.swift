internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import HostStores
package import LocalDataAPI

/// Values that both stores keep in the same place: those of a namespace with its own folder, where every store of a
/// component keeps them. They cannot be copied, since they are there already; they can be sealed for the destination,
/// and then the source cannot read them any more.
extension StoreCopy {
    /// The namespaces with values that both stores keep in the same folder, and seal differently.
    static func sharedPlaces(
        of source: OpenStore, _ destination: OpenStore, _ snapshot: RouterSnapshot
    ) throws(StorageError) -> [StorageNamespace: ListedNames] {
        guard source.component == destination.component, destination.sealing != nil,
            source.store.abilities.enumeration != nil
        else { return [:] }
        let listed = try snapshot.places(in: source, withFolders: false)
        return try snapshot.places(in: source, withFolders: true).filter { place, _ in
            place.directory != nil && listed[place] == nil
        }
    }

    /// Whether both stores keep the value in the same place.
    func isShared(_ address: StorageAddress) -> Bool { shared[address.place] != nil }

    /// Compares a shared value with what the destination expects: `equal` if the destination has sealed it.
    ///
    /// - Throws: `cannotOpen` if neither store can open it.
    func compareShared(_ address: StorageAddress) throws(StorageError) -> Comparison {
        let isSealed = try destination.hasSealed(stored(at: address).start())
        _ = try value(at: address, in: isSealed ? destination : source).digest()
        return isSealed ? .equal : .missing
    }

    /// Seals a shared value for the destination, and reads it back.
    ///
    /// - Returns: `nil` if another process intervened.
    func sealInPlace(
        _ address: StorageAddress, _ from: SealedValue, _ target: SealedValue, _ found: ValueAttributes
    ) throws(StorageError) -> Outcome? {
        if found.size ?? 0 > MoveLimits.whole { return try sealInPieces(address, from, target, found) }
        let view = try StoreView(AtomicScope(address.place, in: destination))
        guard let stored = try view.read(target), let attributes = try from.attributes() else { return .gone }
        if try destination.hasSealed(EnvelopeStart(stored)) { return try sealed(target) }
        var data = try from.open(stored)
        defer { data.resetBytes(in: 0..<data.count) }
        guard try target.set(data, attributes: attributes, in: view) else { return nil }
        let digest = StableHash.of(data)
        return .copied(try verified(address, target, digest, writtenAt: attributes))
    }

    private func sealed(_ target: SealedValue) throws(StorageError) -> Outcome {
        try target.digest().map { .copied(Copied(digest: $0, times: nil)) } ?? .gone
    }

    private func sealInPieces(
        _ address: StorageAddress, _ from: SealedValue, _ target: SealedValue, _ attributes: ValueAttributes
    ) throws(StorageError) -> Outcome? {
        let stored = try stored(at: address)
        if try destination.hasSealed(stored.start()) { return try sealed(target) }
        let before = try stored.digest()
        return try copyInPieces(address, from, target, attributes) { () throws(StorageError) in
            try stored.digest() != before
        }
    }

    /// Throws `cannotOpen` if the source is plain and another store has sealed the value: it would be copied as if the
    /// sealed bytes were the value.
    func requireNotSealedByOthers(_ address: StorageAddress) throws(StorageError) {
        guard source.sealing == nil, address.place.directory != nil || source.hasForgottenSealing else { return }
        let start = try SealedValue(at: address, in: source, layers: []).start()
        guard start.isOfStore else { return }
        if let sealer = snapshot.sealer(of: start, at: source) {
            guard sealer != destination.name || !isShared(address) else { return }
            throw StorageError(
                .cannotOpen, "it is sealed by store '\(sealer)'; copy it from there: ld-host store copy \(sealer) TO")
        }
        guard source.hasForgottenSealing else { return }
        throw StorageError(
            .cannotOpen,
            "store '\(source.name)' has sealed it, and its configuration has no sealing: configure it as it was")
    }

    private func stored(at address: StorageAddress) throws(StorageError) -> SealedValue {
        try SealedValue(at: address, in: destination, layers: [])
    }

    /// Refuses a run that would make shared values unreadable for those who use them.
    ///
    /// - Parameter addresses: The values to be sealed in place.
    /// - Throws: `busy`.
    package func requireConsent(toSeal addresses: [StorageAddress], moving: Bool) throws(StorageError) {
        guard let first = addresses.first(where: isShared) else { return }
        let (from, to, domain) = (source.name, destination.name, first.place.domain)
        guard moving else {
            throw StorageError(
                .busy,
                "stores '\(from)' and '\(to)' keep '\(first)' in the same folder, where only one of them can read it; "
                    + "nothing was copied",
                hint: "--move seals it for '\(to)'; or leave it out with --domain")
        }
        if let route = snapshot.settings.routes[domain]?.store, route.name != to, route.component == source.component {
            throw StorageError(
                .busy,
                "'\(route.name)' serves '\(domain)', and could not read '\(first)' any more once it is sealed for "
                    + "'\(to)', since both stores keep it in the same folder; nothing was copied",
                hint: "first: \(ConfigurationPath.command(mapping: domain, to: to))")
        }
    }
}
