internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostMigration
internal import HostPlugins
internal import HostSealing
package import HostStores
package import LocalDataAPI

/// Copies every value of one store to another, under the same address, and verifies each by reading it back. Values
/// that keys' policies have sealed are copied as they are; seals of the stores are opened and made again. Every call
/// may wait.
package struct StoreCopy: Sendable {
    let snapshot: RouterSnapshot
    package let source: OpenStore
    package let destination: OpenStore
    /// The domains whose values are copied, with the history of their migrations and what sync knows of them; empty for
    /// all.
    let domains: [String]
    /// The namespaces that both stores keep in the same place, and the destination seals.
    let shared: [StorageNamespace: ListedNames]

    package init(
        snapshot: RouterSnapshot, source: OpenStore, destination: OpenStore, domains: [String] = []
    ) throws(StorageError) {
        (self.snapshot, self.source, self.destination, self.domains) = (snapshot, source, destination, domains)
        shared = try Self.sharedPlaces(of: source, destination, snapshot)
    }

    /// The namespaces in which the source may have had values, whether it has some now or not.
    func possiblePlaces() -> Set<StorageNamespace> {
        let all = domains.isEmpty ? Array(snapshot.settings.routes.keys) : domains
        let known = all.flatMap { snapshot.knownPlaces(of: $0, in: source).keys }
        return Set(all.map { StorageNamespace(domain: $0) } + known).filter { place in
            place.directory.map { !StoreLocation.isBare($0) } ?? true
        }
    }

    /// The addresses of the values in the source, including the host keys.
    func addresses() throws(StorageError) -> [StorageAddress] {
        var places = try snapshot.places(in: source, withFolders: source.component != destination.component)
        places.merge(shared) { listed, _ in listed }
        if !domains.isEmpty { places = places.filter { domains.contains($0.key.domain) } }
        var addresses: [StorageAddress] = []
        for (place, names) in places.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            try source.store.forEachName(names, inPagesOf: place) { (name) throws(StorageError) in
                addresses.append(StorageAddress(place, name: name))
            }
        }
        guard !domains.isEmpty else { return addresses }
        let history = try DomainHistory(snapshot: snapshot, source: source, domains: domains).names()
        let synced = try DomainSync(source: source, domains: domains).names()
        return addresses + synced.map { StorageAddress(HostSettings.syncNamespace, name: $0) }
            + history.map { StorageAddress(LedgerPlace.namespace, name: $0) }
    }

    /// The result of comparing the destination with the source at an address.
    enum Comparison {
        case missing
        case equal
        case different
    }

    /// Compares the two values at an address.
    ///
    /// - Throws: `cannotOpen` for a value that the source cannot open, or that another store has sealed.
    func compare(_ address: StorageAddress) throws(StorageError) -> Comparison {
        try requireNotSealedByOthers(address)
        if isShared(address) { return try compareShared(address) }
        let target = try value(at: address, in: destination)
        guard try target.store.exists(target.handle) else { return .missing }
        let from = try value(at: address, in: source)
        if try from.isEqual(to: target), try haveEqualAttributes(from, target) { return .equal }
        // A ring that has every key of the other has only gained keys since it was copied.
        if try isHostKey(address), (try? keys(in: from).isSubset(of: keys(in: target))) == true { return .equal }
        return .different
    }

    /// Whether both stores keep beside a value what its use depends on: its format, its version and when it expires.
    /// What one of them does not keep does not count.
    func haveEqualAttributes(_ from: SealedValue, _ target: SealedValue) throws(StorageError) -> Bool {
        guard let one = try from.attributes(), let other = try target.attributes() else { return true }
        func areEqual(_ text: (ValueAttributes) -> String?) -> Bool {
            guard let own = text(one), let theirs = text(other) else { return true }
            return own == theirs
        }
        let canExpire = [from, target].allSatisfy { $0.store.abilities.expiry != nil }
        return (!canExpire || one.expires == other.expires) && areEqual(\.contentType) && areEqual(\.serializer)
            && areEqual(\.versionTag)
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

    /// A value that was copied.
    struct Copied {
        /// The hash of the opened value.
        let digest: UInt64
        /// When the source had written what was copied, and the destination the copy; `nil` if that is not known. A
        /// source that changes while it is copied has a later time from then on.
        let times: CopyRecord.Times?
    }

    /// The result of copying or moving a value.
    enum Outcome {
        /// The destination has the value.
        case copied(Copied)
        /// The source is removed.
        case removed
        /// Its owner has removed the source.
        case gone
        /// Another process changed the source or the destination; that change stays.
        case changed
    }

    /// Copies a value and reads it back. Key rings are locked while they are copied.
    ///
    /// - Parameter replacing: The value that the destination may have: any, or one with this hash; `nil` for none. A
    ///   value that another process puts there meanwhile stays, provided that the store compares and changes
    ///   atomically.
    func copy(_ address: StorageAddress, replacing expected: Expected) throws(StorageError) -> Outcome {
        try alone(address) { () throws(StorageError) in
            let from = try value(at: address, in: source)
            let target = try value(at: address, in: destination)
            for _ in 0..<MoveLimits.attempts {
                guard let attributes = try from.attributes() else { return .gone }
                if let outcome = try attempt(address, from, target, attributes, expected) { return outcome }
            }
            return .changed
        }
    }

    /// - Returns: `nil` if another process intervened.
    private func attempt(
        _ address: StorageAddress, _ from: SealedValue, _ target: SealedValue, _ attributes: ValueAttributes,
        _ expected: Expected
    ) throws(StorageError) -> Outcome? {
        if isShared(address) { return try sealInPlace(address, from, target, attributes) }
        return attributes.size ?? 0 > MoveLimits.whole
            ? try copyInPieces(address, from, target, attributes, expected)
            : try copyAtOnce(address, from, target, expected)
    }

    /// The value that may be replaced at the destination.
    enum Expected {
        case anything
        case nothing
        case value(UInt64)

        func allows(_ digest: UInt64?) -> Bool {
            switch self {
            case .anything: true
            case .nothing: digest == nil
            case .value(let expected): digest == expected
            }
        }
    }

    /// - Returns: `nil` if another process intervened.
    private func copyAtOnce(
        _ address: StorageAddress, _ from: SealedValue, _ target: SealedValue, _ expected: Expected
    ) throws(StorageError) -> Outcome? {
        let view = try StoreView(AtomicScope(address.place, in: destination))
        let before = try view.read(target).map { (stored) throws(StorageError) in
            // A value that cannot be opened counts as different.
            (try? target.open(stored)).map { StableHash.of($0) } ?? 0
        }
        guard var found = try from.attributed() else { return .gone }
        defer { found.value.resetBytes(in: 0..<found.value.count) }
        let digest = StableHash.of(found.value)
        if before == digest, try haveEqualAttributes(from, target) {
            return .copied(Copied(digest: digest, times: try times(of: address)))
        }
        guard expected.allows(before) else { return .changed }
        guard try target.set(found.value, attributes: found.attributes, in: view) else { return nil }
        return .copied(try verified(address, target, digest, writtenAt: found.attributes))
    }

    private func copyInPieces(
        _ address: StorageAddress, _ from: SealedValue, _ target: SealedValue, _ attributes: ValueAttributes,
        _ expected: Expected
    ) throws(StorageError) -> Outcome? {
        guard try expected.allows(target.digest()) else { return .changed }
        return try copyInPieces(address, from, target, attributes) { () throws(StorageError) in
            guard case .nothing = expected else { return false }
            return try target.store.exists(target.handle)
        }
    }

    /// Copies a large value, and reads it back.
    ///
    /// - Parameter isOvertaken: Whether another process has made a change that must stay; called before the copy takes
    ///   effect.
    /// - Returns: `nil` if one has.
    func copyInPieces(
        _ address: StorageAddress, _ from: SealedValue, _ target: SealedValue, _ attributes: ValueAttributes,
        unless isOvertaken: () throws(StorageError) -> Bool
    ) throws(StorageError) -> Outcome? {
        var (copied, isStopped) = (StableHash.start, false)
        do throws(StorageError) {
            try from.copy(to: target, attributes: attributes, passing: { StableHash.add($0, to: &copied) }) {
                () throws(StorageError) in
                let isSameWrite = try from.attributes()?.kept == attributes.kept
                guard try isOvertaken() || !isSameWrite else { return }
                isStopped = true
                throw StorageError(.busy, "another process changed '\(address)' while it was being copied")
            }
        } catch {
            if error.code == .notFound { return .gone }
            guard isStopped else { throw error }
            return nil
        }
        return .copied(try verified(address, target, copied, writtenAt: attributes))
    }

    /// Reads back what was copied.
    ///
    /// - Parameter attributes: The source's when it was read.
    /// - Throws: `corrupt` if it is another value.
    func verified(
        _ address: StorageAddress, _ target: SealedValue, _ digest: UInt64, writtenAt attributes: ValueAttributes
    ) throws(StorageError) -> Copied {
        // The time comes first: if another process writes after it, the value is not the copy any more.
        let written = isRecorded(address) ? try version(of: target) : nil
        guard try target.digest() == digest else { throw unequal(address) }
        guard let source = CopyVersion(attributes).time, let target = written?.time else {
            return Copied(digest: digest, times: nil)
        }
        return Copied(digest: digest, times: CopyRecord.Times(source: source, target: target))
    }

    func unequal(_ address: StorageAddress) -> StorageError {
        StorageError(
            .corrupt,
            "'\(address)' reads back from store '\(destination.name)' as a different value: another process "
                + "changed it meanwhile, or the store cannot keep such values",
            hint: "the source is unchanged; run it again")
    }

    /// Removes a value from the source if the destination has the same one; atomic if the store has transactions.
    ///
    /// - Returns: `removed`, or the reason why it is not.
    func remove(_ address: StorageAddress) throws(StorageError) -> Outcome {
        try alone(address) { () throws(StorageError) in
            let from = try value(at: address, in: source)
            let move = LargeMove(source: from, destination: try value(at: address, in: destination))
            // Rings are locked now. A ring with more keys than the copy counts as copied too.
            if try snapshot.isReserved(address, in: source) {
                guard try compare(address) == .equal else { return .changed }
                return try from.store.remove(from.handle) ? .removed : .gone
            }
            func isInPlace() throws(StorageError) -> Bool {
                guard try move.isInPlace() else { return false }
                return try haveEqualAttributes(from, move.destination)
            }
            for _ in 0..<MoveLimits.attempts {
                if try from.remove(in: source, if: isInPlace) { return .removed }
                if try !from.store.exists(from.handle) { return .gone }
                guard try isInPlace() else { break }
            }
            return .changed
        }
    }

    /// Removes a copy, so that the next run finds only the source; unless another process has changed the copy.
    func withdraw(_ address: StorageAddress, _ copied: UInt64) throws(StorageError) {
        let target = try value(at: address, in: destination)
        try target.layers.whileStanding { () throws(StorageError) in
            for _ in 0..<MoveLimits.attempts {
                let view = try StoreView(AtomicScope(address.place, in: destination))
                guard let stored = try view.read(target), try StableHash.of(target.open(stored)) == copied else {
                    return
                }
                if try view.apply([StorageChange(key: target.handle, value: nil)]) { return }
            }
        }
    }

    /// Blocks changes of the value at an address, where that is possible: for values that the source seals, and for
    /// rings.
    private func alone<Result>(
        _ address: StorageAddress, _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard try isHostKey(address) else { return try whileSourceStands(body) }
        return try snapshot.rings.ring(named: snapshot.rings.current).whileAlone { (_) throws(StorageError) in
            try whileSourceStands(body)
        }
    }

    /// Blocks changes of values that the source seals.
    func whileSourceStands<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        guard let ring = source.sealing?.ring else { return try body() }
        return try ring.whileAlone { (_) throws(StorageError) in try body() }
    }

    /// Whether a host key, or an entry of the list of rings, is at an address of either store.
    func isHostKey(_ address: StorageAddress) throws(StorageError) -> Bool {
        if try snapshot.isReserved(address, in: source) { return true }
        return try snapshot.isReserved(address, in: destination)
    }

    /// Whether the host keys must stay in the source, because the values that they seal are opened with them from
    /// there.
    var sourceServesKeychain: Bool { snapshot.settings.routes["keychain"]?.store.name == source.name }

    func value(at address: StorageAddress, in open: OpenStore) throws(StorageError) -> SealedValue {
        try open.value(at: address)
    }
}
