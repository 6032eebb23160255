package import HostSealing
package import LocalDataAPI

/// The rings that seal a batch's values. Each is locked once, however many values it seals: a thread that waited again
/// for a lock that it holds would deadlock with a waiting exclusive use.
package struct BatchSeals {
    /// The sealing keys, while they are lent.
    package struct Keys {
        fileprivate var active: [ObjectIdentifier: EnvelopeKey] = [:]

        package func key(of layer: SealingLayer) throws(StorageError) -> EnvelopeKey {
            switch layer.keys {
            case .supplied(let key): return key
            case .ring(let ring, _):
                if let key = active[ObjectIdentifier(ring)] { return key }
                throw StorageError(.unknown, "\(ring.name) has no key for this batch")
            case .external(let source, _, _):
                throw StorageError(.securityApplicationFailed, "the key material of '\(source.id)' is missing")
            }
        }
    }

    private struct Need {
        let ring: KeyRing
        /// See ``KeyRing``, "Order".
        let rank: Int
        var places: Set<SealedPlace> = []
        var seals = false
    }

    private let needs: [Need]

    /// - Parameter keychain: The name of the keychain domain's store.
    init(_ changes: [BatchChange], keychain: String?) {
        var needs: [ObjectIdentifier: Need] = [:]
        for change in changes {
            for layer in change.sealed.layers {
                guard case .ring(let ring, _) = layer.keys else { continue }
                let open = change.resolved.open
                let isOfStore = open.sealing?.ring === ring
                let rank = !isOfStore ? 0 : open.name == keychain ? 2 : 1
                var need = needs[ObjectIdentifier(ring)] ?? Need(ring: ring, rank: rank)
                if change.data != nil {
                    need.seals = true
                    if let place = change.sealed.place { need.places.insert(place) }
                }
                needs[ObjectIdentifier(ring)] = need
            }
        }
        self.init(needs.values)
    }

    /// The rings of whole stores, and the one that seals values of keys with a policy.
    ///
    /// - Parameters:
    ///   - places: Where values are sealed, by store.
    ///   - master: The ring of keys with a policy, and where it seals values; `nil` if it seals none.
    package init(
        _ places: [ObjectIdentifier: (open: OpenStore, places: Set<SealedPlace>)],
        master: (ring: KeyRing, places: Set<SealedPlace>)?, keychain: String?
    ) {
        let own = master.map { [Need(ring: $0.ring, rank: 0, places: $0.places, seals: true)] } ?? []
        self.init(
            own
                + places.values.compactMap { open, places in
                    open.sealing.map {
                        Need(ring: $0.ring, rank: open.name == keychain ? 2 : 1, places: places, seals: true)
                    }
                })
    }

    /// Ordered by the paths of their locks, so that two batches never deadlock.
    private init(_ needs: some Collection<Need>) {
        self.needs = needs.sorted { ($0.rank, $0.ring.file) < ($1.rank, $1.ring.file) }
    }

    /// Lends the keys until `body` has stored what it sealed, and blocks re-encryption meanwhile. May wait.
    package func whileSealing<Result>(_ body: (Keys) throws(StorageError) -> Result) throws(StorageError) -> Result {
        try Self.lend(needs[...], Keys(), body)
    }

    private static func lend<Result>(
        _ needs: ArraySlice<Need>, _ keys: Keys, _ body: (Keys) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard let need = needs.first else { return try body(keys) }
        guard need.seals else {
            return try need.ring.whileStanding { () throws(StorageError) in try lend(needs.dropFirst(), keys, body) }
        }
        return try need.ring.whileSealing(in: need.places) { (key) throws(StorageError) in
            var keys = keys
            keys.active[ObjectIdentifier(need.ring)] = key
            return try lend(needs.dropFirst(), keys, body)
        }
    }
}
