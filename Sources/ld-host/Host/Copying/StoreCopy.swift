internal import FoundationEssentials
internal import LocalDataAPI

/// Copies every value of one store to another, each below its own address, and verifies what arrived by reading it back.
/// Seals that keys' policies have put around values are copied as they are; those of the stores are opened and made.
/// Everything may wait.
struct StoreCopy: Sendable {
    let snapshot: RouterSnapshot
    let source: OpenStore
    let destination: OpenStore

    /// The addresses of all values in the source, the host's own keys among them.
    func addresses() throws(StorageError) -> [StorageAddress] {
        var places: Set<StorageNamespace> = []
        try source.store.forEachPlace {
            if !HostSettings.isReserved($0) { places.insert($0) }
            return true
        }
        // Places in folders of their own. Two stores of one component keep such a place in the same folder.
        if source.component != destination.component {
            for domain in snapshot.settings.routes.keys {
                places.formUnion(snapshot.settings.knownDomains(named: domain).keys)
            }
            for place in try source.sealing?.ring.state()?.places ?? [] where place.identity == source.identity {
                places.insert(place.namespace)
            }
        }
        var addresses: [StorageAddress] = []
        for place in places.sorted(by: { "\($0)" < "\($1)" }) {
            try source.store.forEachName(in: place) {
                addresses.append(StorageAddress(place, name: $0))
                return true
            }
        }
        return addresses
    }

    /// What the destination has at an address, beside what the source has.
    enum Comparison {
        case missing
        case equal
        case different
    }

    /// Compares the two values at an address.
    func compare(_ address: StorageAddress) throws(StorageError) -> Comparison {
        let from = try value(at: address, in: source)
        let target = try value(at: address, in: destination)
        guard try target.store.exists(target.handle) else { return .missing }
        if try from.isEqual(to: target) { return .equal }
        // A ring that has every key of the other has gone on since it was copied.
        if snapshot.isReserved(address), (try? keys(in: from).isSubset(of: keys(in: target))) == true { return .equal }
        return .different
    }

    /// The ids of the keys in a ring.
    private func keys(in ring: SealedValue) throws(StorageError) -> Set<KeyID> {
        guard var stored = try ring.get() else { return [] }
        defer { stored.resetBytes(in: 0..<stored.count) }
        let state = try stored.withBuffer { (bytes) throws(StorageError) in
            try KeyRingState(decoding: bytes, of: "a key ring")
        }
        return Set(state.entries.map(\.id))
    }

    /// Copies a value and reads it back. Nobody changes a key ring while it is copied.
    ///
    /// - Throws: `corrupt` if something else arrived.
    func copy(_ address: StorageAddress) throws(StorageError) {
        try alone(address) { () throws(StorageError) in
            let from = try value(at: address, in: source)
            let target = try value(at: address, in: destination)
            let attributes = try from.attributes()
            try from.copy(to: target, attributes: attributes)
            guard try from.isEqual(to: target) else {
                throw StorageError(
                    .corrupt, "'\(address)' reads back from store '\(destination.name)' as something else",
                    hint: "the source is as it was; see whether the destination keeps such values")
            }
        }
    }

    /// Removes a value from the source, if the destination has the same.
    ///
    /// - Returns: Whether it was removed.
    func remove(_ address: StorageAddress) throws(StorageError) -> Bool {
        try alone(address) { () throws(StorageError) in
            guard try compare(address) == .equal else { return false }
            let from = try value(at: address, in: source)
            return try from.store.remove(from.handle)
        }
    }

    /// Keeps others from changing what is at an address, where that is possible: values that the source seals, and rings.
    private func alone<Result>(
        _ address: StorageAddress, _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        func inSource() throws(StorageError) -> Result {
            guard let ring = source.sealing?.ring else { return try body() }
            return try ring.whileAlone { (_) throws(StorageError) in try body() }
        }
        guard snapshot.isReserved(address) else { return try inSource() }
        return try snapshot.rings.ring(named: snapshot.rings.current).whileAlone { (_) throws(StorageError) in
            try inSource()
        }
    }

    private func value(at address: StorageAddress, in open: OpenStore) throws(StorageError) -> SealedValue {
        try SealedValue(at: address, in: open, layers: open.sealing.map { [$0.layer(for: address)] } ?? [])
    }
}
