internal import FoundationEssentials
internal import LocalDataAPI

/// Finds what a ring seals: every value in every place that the ring remembers, and in every place that the stores of
/// the configuration know of. Everything may wait.
struct SealedScan: Sendable {
    /// One sealed value.
    struct Finding: Sendable {
        let open: OpenStore
        let address: StorageAddress
        /// The header of the ring's envelope; authentic only once the value is opened.
        let header: EnvelopeHeader
    }

    let snapshot: RouterSnapshot
    let name: KeyRingName
    let ring: KeyRing

    /// Hands out what is found, until `body` returns `false`.
    ///
    /// - Throws: What keeps a place from being looked at: then it cannot be told that nothing is there.
    func forEach(_ body: (Finding) throws(StorageError) -> Bool) throws(StorageError) {
        for place in try places() {
            let open = try store(named: place.store)
            let names = try names(in: place.namespace, of: open)
            for name in names {
                let address = StorageAddress(place.namespace, name: name)
                guard let finding = try look(at: address, in: open) else { continue }
                guard try body(finding) else { return }
            }
        }
    }

    /// The layers around the ring's envelope at an address, innermost first.
    func outerLayers(_ address: StorageAddress, in open: OpenStore) -> [SealingLayer] {
        guard case .master = name, let sealing = open.sealing else { return [] }
        return [sealing.layer(for: address)]
    }

    /// The value at an address as it is without the ring's envelope around it.
    func value(at address: StorageAddress, in open: OpenStore, layers: [SealingLayer]) throws(StorageError)
        -> ScannedValue
    {
        ScannedValue(open.store, try open.store.resolve(address), layers, SealedPlaces.Place(open.name, address.place))
    }

    private func look(at address: StorageAddress, in open: OpenStore) throws(StorageError) -> Finding? {
        if case .master = name, snapshot.isReserved(address) { return nil }
        if address.place == StoreSealing.place { return nil }
        let outside = try value(at: address, in: open, layers: outerLayers(address, in: open))
        // What the ring does not seal may be a secret that only the store seals.
        let start = UnsafeMutableRawBufferPointer.allocate(byteCount: EnvelopeHeader.largestSize, alignment: 16)
        defer {
            clear(start)
            start.deallocate()
        }
        var count = 0
        var header: EnvelopeHeader?
        _ = try outside.value.read(.chunks) { piece in
            let part = UnsafeRawBufferPointer(rebasing: piece.prefix(start.count - count))
            UnsafeMutableRawBufferPointer(rebasing: start[count...]).copyMemory(from: part)
            count += part.count
            header = try? EnvelopeHeader(parsing: UnsafeRawBufferPointer(rebasing: start[..<count]))
            return header == nil && count < start.count
        }
        guard let header, header.ring == ring.headerName else { return nil }
        return Finding(open: open, address: address, header: header)
    }

    private func places() throws(StorageError) -> [SealedPlaces.Place] {
        var places = try ring.places.all()
        for slot in snapshot.stores {
            if case .store(let store) = name, slot.settings.name != store { continue }
            let open = try slot.openIfNeeded()
            guard open.store.abilities.enumeration != nil else { continue }
            var found: [StorageNamespace] = []
            try open.store.forEachPlace {
                found.append($0)
                return true
            }
            for (domain, route) in snapshot.settings.routes where route.store.name == slot.settings.name {
                found += snapshot.settings.knownDomains(named: domain).keys
            }
            places.formUnion(found.map { SealedPlaces.Place(open.name, $0) })
        }
        return places.sorted { "\($0.store)\0\($0.domain)\0\($0.scope)" < "\($1.store)\0\($1.domain)\0\($1.scope)" }
    }

    private func store(named store: String) throws(StorageError) -> OpenStore {
        guard let slot = snapshot.slot(ofStore: store) else {
            throw StorageError(
                .invalidConfiguration,
                "\(ring.name) has sealed values in the store '\(store)', which is no longer configured",
                hint: "configure the store again, so that what is in it can be looked at")
        }
        return try slot.openIfNeeded()
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

/// A value that a scan looks at; it gives its handle back.
final class ScannedValue: Sendable {
    let value: SealedValue

    init(_ store: LoadedStore, _ handle: StoreHandle, _ layers: [SealingLayer], _ place: SealedPlaces.Place) {
        value = SealedValue(store: store, handle: handle, layers: layers, place: place)
    }

    deinit { value.store.release(value.handle) }
}
