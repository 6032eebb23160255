internal import HostGround
internal import HostPlugins
internal import HostSealing
package import LocalDataAPI

/// Values that a sealed store cannot open because they are not sealed: they were stored before it was.
package struct UnsealedValues: Sendable {
    /// The sealed store.
    package let store: String
    /// Their namespaces, in order.
    package let places: [StorageNamespace]

    package var text: String {
        "store '\(store)' cannot open values of \(places.map { "'\($0)'" }.joined(separator: ", ")): they were stored "
            + "before it was sealed"
    }

    /// How to seal them.
    package var hint: String {
        "they are readable without stores.\(ConfigurationPath([store])).sealing, so unset it; to seal them, configure a "
            + "second, sealed store in another location, and then run: ld-host store copy \(store) SECOND --move"
    }
}

extension RouterSnapshot {
    /// The values that a store cannot open because they are not sealed; `nil` if there are none, or the store cannot
    /// say so without a passphrase. May wait.
    package func unsealedValues(in slot: StoreSlot) -> UnsealedValues? {
        guard let sealing = slot.settings.sealing, !sealing.source.asksForIt,
            let open = try? slot.openIfNeeded(), open.store.abilities.enumeration != nil,
            let places = try? places(in: open, withFolders: true)
        else { return nil }
        // A plain store of the same component reports what it has in folders that both use.
        let isReported = holders.contains {
            $0.settings.component == open.component && $0.settings.sealing == nil
        }
        let found = places.filter { place, names in
            place.directory == nil || !isReported && settings.routes[place.domain]?.store.name == open.name
        }.filter { (try? sealers(in: $0, $1, of: open))?.contains(nil) == true }
        guard !found.isEmpty else { return nil }
        return UnsealedValues(store: open.name, places: found.keys.sorted { "\($0)" < "\($1)" })
    }
}

extension OpenStore {
    /// Whether this store's ring has the key of an envelope. A store that does not seal has sealed nothing. May wait.
    package func hasSealed(_ start: EnvelopeStart) throws(StorageError) -> Bool {
        guard let ring = sealing?.ring else { return false }
        return ring.hasSealed(start, with: try ring.state())
    }

    /// The first names of a namespace that count, a sample.
    fileprivate func firstNames(
        in place: StorageNamespace, _ names: ListedNames
    ) throws(StorageError) -> [String] {
        var first: [String] = []
        switch names {
        case .all:
            try store.forEachName(in: place, limit: Self.sample) {
                first.append($0)
                return true
            }
        case .only(let names):
            for name in names.prefix(Self.sample) where try store.hasValue(named: name, in: place) {
                first.append(name)
            }
        }
        return first
    }

    /// How many values of a namespace are examined.
    private static let sample = 16
}

extension RouterSnapshot {
    /// The sealed store whose ring has the key of an envelope in a folder that it shares with a store; `nil` for none
    /// that is known without a passphrase. May wait.
    package func sealer(of start: EnvelopeStart, at open: OpenStore) -> String? {
        guard case .header = start else { return nil }
        return sealedStores(of: open.component).first { (try? $0.hasSealed(start)) == true }?.name
    }

    /// The names of the stores that have sealed the first values of a namespace; `nil` for values that none has. May
    /// wait.
    func sealers(
        in place: StorageNamespace, _ names: ListedNames, of open: OpenStore
    ) throws(StorageError) -> Set<String?> {
        let states = sealedStores(of: open.component).map { ($0, try? $0.sealing?.ring.state()) }
        var sealers: Set<String?> = []
        for name in try open.firstNames(in: place, names) {
            let start = try SealedValue(at: StorageAddress(place, name: name), in: open, layers: []).start()
            sealers.insert(states.first { $0.0.sealing?.ring.hasSealed(start, with: $0.1) == true }?.0.name)
        }
        return sealers
    }

    private func sealedStores(of component: String) -> [OpenStore] {
        stores.filter { $0.settings.sealing?.source.asksForIt == false && $0.settings.component == component }
            .compactMap { try? $0.openIfNeeded() }
    }
}

extension KeyRing {
    /// Whether a state of this ring has the key of an envelope.
    fileprivate func hasSealed(_ start: EnvelopeStart, with state: KeyRingState?) -> Bool {
        switch start {
        case .header(let header): header.ring == headerName && state?[header.keyID] != nil
        case .later: false
        case .other: false
        }
    }
}
