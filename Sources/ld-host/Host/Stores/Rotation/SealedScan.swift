internal import HostGround
internal import HostPlugins
package import HostSealing
package import LocalDataAPI

/// Finds the values that a ring has sealed, in every location that the ring has recorded and in every namespace that
/// the configured stores list. Every call may wait.
package struct SealedScan: Sendable {
    /// One sealed value.
    package struct Finding: Sendable {
        package let open: OpenStore
        package let address: StorageAddress
        /// The header of the ring's envelope; authentic only once the value is opened.
        package let header: EnvelopeHeader
        /// The ring that it refers to.
        package let ring: KeyRing
    }

    /// A value that the ring may have sealed, and why that is unknown.
    package typealias Doubt = (StorageAddress, StorageError) throws(StorageError) -> Void

    package let snapshot: RouterSnapshot
    let name: KeyRingName
    package let ring: KeyRing
    /// Earlier rings whose values to find too; then a value of an unknown ring counts as doubtful. `nil` to find only
    /// those of this ring.
    package var earlier: [KeyRing]?

    package init(snapshot: RouterSnapshot, name: KeyRingName, ring: KeyRing, earlier: [KeyRing]? = nil) {
        self.snapshot = snapshot
        self.name = name
        self.ring = ring
        self.earlier = earlier
    }

    /// Passes the values one by one.
    ///
    /// - Parameters:
    ///   - places: The locations that the ring has recorded.
    ///   - doubt: Called for values that cannot be examined.
    /// - Throws: Why a location cannot be examined: then it may contain more values.
    package func forEach(
        in places: Set<SealedPlace>, doubt: Doubt, _ body: (Finding) throws(StorageError) -> Void
    ) throws(StorageError) {
        for (open, place) in try self.places(places) {
            for name in try names(in: place, of: open) {
                let address = StorageAddress(place, name: name)
                let finding: Finding?
                do throws(StorageError) { finding = try self.finding(at: address, in: open) } catch {
                    guard error.code == .cannotOpen else { throw error }
                    try doubt(address, error)
                    continue
                }
                if let finding { try body(finding) }
            }
        }
    }

    /// The layers around the ring's envelope at an address, innermost first.
    package func outerLayers(_ address: StorageAddress, in open: OpenStore) -> [SealingLayer] {
        guard case .master = name, let sealing = open.sealing else { return [] }
        return [sealing.layer(for: address)]
    }

    /// The sealed value at an address; `nil` for no value, or one that none of these rings has sealed.
    ///
    /// - Throws: `cannotOpen` if the value is sealed and its ring is unknown.
    package func finding(at address: StorageAddress, in open: OpenStore) throws(StorageError) -> Finding? {
        if case .master = name, try snapshot.isReserved(address, in: open) { return nil }
        if HostSettings.isReserved(address.place) { return nil }
        let outer = outerLayers(address, in: open)
        let start: EnvelopeStart
        do throws(StorageError) { start = try SealedValue(at: address, in: open, layers: outer).start() } catch {
            // A value without an envelope is not sealed, whatever its store.
            let stored = try SealedValue(at: address, in: open, layers: []).start()
            if error.code == .cannotOpen, case .other = stored { return nil }
            throw error
        }
        switch start {
        case .header(let header):
            let found = ([ring] + (earlier ?? [])).first { $0.headerName == header.ring }
            // An envelope without a ring's name may be sealed with material from outside.
            if found == nil, earlier != nil, header.ring != nil { _ = try snapshot.rings.ring(named: header.ring) }
            return found.map { Finding(open: open, address: address, header: header, ring: $0) }
        case .later(let version): throw EnvelopeContext(address).cannotOpen(.version(version))
        case .other: return nil
        }
    }

    /// The stores in which the ring may have sealed values.
    private func stores() throws(StorageError) -> [OpenStore] {
        var stores: [OpenStore] = []
        for slot in snapshot.stores {
            if case .store(let store) = name, slot.settings.name != store { continue }
            stores.append(try slot.openIfNeeded())
        }
        return stores
    }

    /// - Parameter listing: Whether to add the namespaces that the stores list.
    private func places(
        _ remembered: Set<SealedPlace>, listing: Bool = true
    ) throws(StorageError) -> [(OpenStore, StorageNamespace)] {
        let stores = try stores()
        var found: [SealedPlace: (OpenStore, StorageNamespace)] = [:]
        for open in listing ? stores : [] {
            for place in try places(of: open) {
                found[SealedPlace(store: "", identity: open.identity, namespace: place)] = (open, place)
            }
        }
        for place in remembered {
            let namespace = place.namespace
            let key = SealedPlace(store: "", identity: place.identity, namespace: namespace)
            guard found[key] == nil else { continue }
            guard let open = store(of: place, among: stores) else {
                throw StorageError(
                    .invalidConfiguration,
                    "\(ring.name) has sealed values in '\(namespace)' of the store '\(place.store)', which is no "
                        + "longer configured as before",
                    hint:
                        "configure it again, under any name, so that it can be searched; if it was moved or "
                        + "is gone, run: ld-host keys forget \(place.store)")
            }
            found[SealedPlace(store: "", identity: open.identity, namespace: namespace)] = (open, namespace)
        }
        return found.sorted { Self.order($0.key) < Self.order($1.key) }.map(\.value)
    }

    /// The store of a recorded location.
    private func store(of place: SealedPlace, among stores: [OpenStore]) -> OpenStore? {
        // A store's ring is in the store and seals nothing elsewhere, so it moved with the store.
        if case .store = name { return stores.first }
        // One store may have two names, one of which is sealed; that one is meant.
        let same = stores.filter { $0.identity == place.identity }
        return same.first { $0.name == place.store } ?? same.first
    }

    private static func order(_ place: SealedPlace) -> String {
        "\(place.identity)\0\(place.namespace.domain)\0\(place.namespace.scope)\0\(place.namespace.directory ?? "")"
    }

    private func places(of open: OpenStore) throws(StorageError) -> [StorageNamespace] {
        guard open.store.abilities.enumeration != nil else { return [] }
        var places: [StorageNamespace] = []
        try open.store.forEachPlace {
            places.append($0)
            return true
        }
        for (domain, route) in snapshot.settings.routes where route.store.name == open.name {
            // The ring itself has recorded the folders that other programs use too.
            places += snapshot.knownPlaces(of: domain, in: open).filter(\.value.isWhole).keys
        }
        return places
    }

    private func names(in place: StorageNamespace, of open: OpenStore) throws(StorageError) -> [String] {
        var names: [String] = []
        try open.store.forEachName(in: place) {
            names.append($0)
            return true
        }
        return names
    }
}

/// Locations that are not here now.
extension SealedScan {
    /// The recorded locations that look as if their disk were not mounted: the store, or the folder of their own, is
    /// missing or empty. A store without files of its own, whose values were all removed, looks the same.
    package func absent(_ places: Set<SealedPlace>) throws(StorageError) -> [SealedPlace] {
        let stores = try stores()
        var empty: [UInt64: Bool] = [:]
        var absent: [SealedPlace] = []
        for place in places {
            guard let open = store(of: place, among: stores), open.store.properties.isDurable,
                open.store.abilities.enumeration != nil
            else { continue }
            if let folder = place.namespace.directory {
                // A store may keep the values of such a folder elsewhere.
                guard open.store.properties.latency == .disk, StoreLocation.isBare(folder),
                    try names(in: place.namespace, of: open).isEmpty
                else { continue }
                absent.append(place)
                continue
            }
            let isEmpty = if let known = empty[open.identity] { known } else { try isEmpty(open) }
            empty[open.identity] = isEmpty
            if isEmpty { absent.append(place) }
        }
        return absent.sorted { Self.order($0) < Self.order($1) }
    }

    private func isEmpty(_ open: OpenStore) throws(StorageError) -> Bool {
        // Stores leave files or folders of their own, also when the last value is removed.
        if open.store.properties.latency == .disk, open.location.isBare == false { return false }
        var isEmpty = true
        try open.store.forEachPlace { _ in
            isEmpty = false
            return false
        }
        return isEmpty
    }

    /// - Throws: `storeUnavailable` naming the first of these locations.
    package func requireNoneAbsent(_ places: Set<SealedPlace>) throws(StorageError) {
        guard let first = try absent(places).first else { return }
        throw StorageError(
            .storeUnavailable, "\(ring.name) has sealed values in \(first.whereabouts)", hint: first.advice)
    }
}

extension SealedPlace {
    /// Where values were that are not there now, for people.
    package var whereabouts: String {
        if let folder = namespace.directory { return "'\(namespace)', but the folder '\(folder)' is missing or empty" }
        return "'\(namespace)', but the store '\(store)' is empty"
    }

    /// What to do then.
    package var advice: String {
        "mount its disk, or bring it back; if the values are gone, run: ld-host keys forget \(store)"
    }
}

/// Rings that machines share.
extension SealedScan {
    /// - Throws: `unsupported` if the ring has sealed values in a store of which each machine has its own, because
    ///   those of other machines cannot be examined.
    package func requireShared(_ places: Set<SealedPlace>, retiring id: KeyID) throws(StorageError) {
        for (open, place) in try self.places(places, listing: false) where open.store.abilities.lock == nil {
            throw StorageError(
                .unsupported,
                "\(ring.name) is shared by machines, and has sealed values in '\(place)' of the store '\(open.name)', "
                    + "of which each machine has its own; another machine's cannot be examined, so the key stays",
                hint: "disable it, so that it opens nothing: ld-host keys disable \(id)")
        }
    }

    /// - Throws: `busy` if a store that machines share has staged changes of a batch: another machine's may be put in
    ///   place later, and their keys are unknown.
    package func requireNoStagedChanges(retiring id: KeyID) throws(StorageError) {
        for open in try stores() where open.store.abilities.lock != nil && open.store.abilities.enumeration != nil {
            var staged: [StorageNamespace] = []
            try open.store.forEachPlace {
                if StagedPlace.holds($0) { staged.append($0) }
                return true
            }
            for place in staged where try !names(in: place, of: open).isEmpty {
                throw StorageError(
                    .busy,
                    "a batch of this or another machine is being applied to the store '\(open.name)', or was "
                        + "interrupted, and may be sealed with the key \(id), which stays",
                    hint: "try again; if this persists, run on each machine: ld-host doctor")
            }
        }
    }
}

extension SealedScan {
    /// The cost limit for deriving a value's key: the same as when its own key reads it. For a value in no catalog,
    /// that is the configuration's limit; for values that migrations keep, the highest limit of any key.
    package func derivationLimit(at address: StorageAddress) -> DerivationLimit {
        guard case .master = name else { return .fastOnly }
        let iterations = snapshot.settings.encryption.iterations
        return policies(at: address).reduce(DerivationLimit(.hkdf(), iterations: iterations)) { limit, policy in
            guard case .pbkdf2(let count?, _) = policy.derivation else { return limit }
            let style = KeyDerivation.pbkdf2(iterations: UInt32(clamping: count))
            return limit.joined(with: DerivationLimit(style, iterations: iterations))
        }
    }

    private func policies(at address: StorageAddress) -> [SecurityPolicy.EncryptionPolicy] {
        let indices = [snapshot.described, snapshot.catalog].compactMap(\.self)
        let keys =
            address.place == HostSettings.ledgerNamespace
            ? indices.flatMap(\.entries.values) : indices.compactMap { $0.entries[address] }
        return keys.compactMap { if case .encrypted(let policy) = $0.descriptor.security { policy } else { nil } }
    }
}

extension SecurityPolicy.EncryptionPolicy {
    fileprivate var derivation: SecurityPolicy.KeyDerivation {
        switch self {
        case .aes256(let derivation), .chacha20Poly1305(let derivation), .external(_, let derivation): derivation
        }
    }
}
