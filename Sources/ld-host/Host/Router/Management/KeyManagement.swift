internal import HostGround
internal import HostSealing
public import HostStores
internal import LocalDataAPI
internal import Synchronization

extension StorageRouter {
    /// The keys that seal values: their rings, rotation and re-encryption.
    public var keys: KeyManagement { KeyManagement(router: self) }

    /// Managing the keys that seal values; see ``StorageRouter/keys``.
    public struct KeyManagement: Sendable {
        let router: StorageRouter
    }
}

/// Managing the keys that seal values.
extension StorageRouter.KeyManagement {
    /// Forgets the keys in memory, which is cleared as calls in flight end: for apps that are locked. The next call
    /// that needs a key reads it again, and asks for a passphrase again. Only material from a descriptor is kept, as it
    /// cannot be read twice.
    public func forget() {
        let (rings, slots) = router.state.withLock { ($0.rings, Array($0.slots.values)) }
        for rings in rings { rings.forgetKeys() }
        for slot in slots { slot.forgetKeys() }
    }

    /// The keys of a ring, in the order of their creation; empty if there is no ring yet.
    ///
    /// - Parameter counting: Whether to count the values that each seals, which reads every value's header.
    public func list(of name: KeyRingName = .master, counting: Bool = false) async throws -> [KeyDescription] {
        try await withRing(name, counting ? .steady : .none) { (scan) throws(StorageError) in
            guard let state = try scan.ring.stateUnlessMissing() else { return [] }
            guard counting else { return state.entries.map { KeyDescription($0) } }
            var counts: [KeyID: Int] = [:]
            // Reseal reports the values that cannot be examined; they count for no key.
            try scan.forEach(in: state.places, doubt: { (_, _) throws(StorageError) in }) {
                (finding) throws(StorageError) in counts[finding.header.keyID, default: 0] += 1
            }
            return state.entries.map { KeyDescription($0, values: counts[$0.id] ?? 0) }
        }
    }

    /// Creates a key that seals nothing until ``rotate(of:to:)`` promotes it; a ring's first key is active at once.
    /// So every process can have a key before the first value is sealed under it.
    public func create(in name: KeyRingName = .master) async throws -> KeyDescription {
        try await withRing(name) { (scan) throws(StorageError) in
            try Self.makeKey(in: scan.ring)
        }
    }

    static func makeKey(in ring: KeyRing) throws(StorageError) -> KeyDescription {
        try ring.change { (state) throws(StorageError) in
            let isFirst = state.entries.isEmpty
            let id = try ring.add(to: &state)
            if isFirst { state.promote(id) }
            return try describe(id, state, ring)
        }
    }

    /// Makes a key the active one; the former active key only opens from then on. Stored values do not change.
    ///
    /// - Parameter id: The key; a new one if `nil`.
    /// - Throws: `notFound` if the ring does not have it; `busy` if it is disabled.
    @discardableResult
    public func rotate(of name: KeyRingName = .master, to id: String? = nil) async throws -> KeyDescription {
        try await withRing(name) { (scan) throws(StorageError) in
            try scan.ring.change { (state) throws(StorageError) in
                let chosen: KeyID
                if let id {
                    let entry = try Self.key(id, in: state, scan.ring)
                    guard entry.use != .disabled else {
                        throw StorageError(
                            .busy, "the key \(entry.id) is disabled, so it cannot seal",
                            hint: "run first: ld-host keys enable \(entry.id)")
                    }
                    chosen = entry.id
                } else {
                    chosen = try scan.ring.add(to: &state)
                }
                state.promote(chosen)
                return try Self.describe(chosen, state, scan.ring)
            }
        }
    }

    /// Disables a key: it neither seals nor opens until it is enabled again. A process that has used the ring before
    /// may still open with the key until it seals something under the ring or ends; if machines share the ring, for up
    /// to 2 s.
    ///
    /// - Throws: `notFound`; `busy` for the active key.
    public func disable(_ id: String, of name: KeyRingName = .master) async throws {
        try await change(name) { (state, ring) throws(StorageError) in
            state.set(.disabled, of: try Self.passive(id, in: state, ring).id)
        }
    }

    /// Lets a disabled key open again; enabling an enabled key is fine.
    ///
    /// - Throws: `notFound`.
    public func enable(_ id: String, of name: KeyRingName = .master) async throws {
        try await change(name) { (state, ring) throws(StorageError) in
            let entry = try Self.key(id, in: state, ring)
            if entry.use == .disabled { state.set(.decryptOnly, of: entry.id) }
        }
    }

    /// Removes a key for good if it seals nothing.
    ///
    /// If machines share the ring, this first waits 6 s, until each has read the ring again, and starts again if the
    /// ring changes meanwhile. A machine that stores a value under the key later than that returns the key to the ring.
    ///
    /// - Throws: `notFound`; `busy` for the active key, for one that still seals something, with an example, and if
    ///   a batch of another machine may be sealed with it; `unsupported` if machines share the ring, but not a store in
    ///   which it has sealed values; why a location cannot be examined.
    public func retire(_ id: String, of name: KeyRingName = .master) async throws {
        // The ring's stamp when all machines may still have sealed with the key.
        var seen: UInt64?
        for _ in 0..<Self.retirements {
            let before = seen
            let next = try await withRing(name, .steady) { (scan) throws(StorageError) -> UInt64? in
                guard scan.ring.isSharedByMachines else {
                    _ = try Self.remove(id, scan)
                    return nil
                }
                if let before, try Self.remove(id, scan, ifStamp: before) { return nil }
                let stamp = try scan.ring.stamp()
                let state = try scan.ring.state() ?? KeyRingState()
                let entry = try Self.passive(id, in: state, scan.ring)
                try scan.requireShared(state.places, retiring: entry.id)
                return stamp
            }
            guard let next else { return }
            seen = next
            let start = MachineTime.now
            while start.age < RingSharing.retirement {
                try await Task.sleep(for: RingSharing.retirement - start.age)
            }
        }
        throw StorageError(
            .busy, "the ring was changed by others again and again while the key waited to be retired; it stays",
            hint: "try again")
    }

    /// The most attempts to retire a key while others change the ring.
    private static let retirements = 20

    /// - Returns: Whether the key was removed; not if the ring has another stamp.
    private static func remove(
        _ id: String, _ scan: SealedScan, ifStamp stamp: UInt64? = nil
    ) throws(StorageError) -> Bool {
        // The ring is locked exclusively: nothing is sealed under any of its keys between the scan and the removal. On
        // other machines that holds for keys that have not been active for some time.
        try scan.ring.change { (state) throws(StorageError) in
            if let stamp, try scan.ring.stamp() != stamp { return false }
            let entry = try passive(id, in: state, scan.ring)
            // The staged changes of an interrupted batch may be sealed with it.
            try BatchIntent.requireNone(scan.snapshot)
            try scan.requireNoneAbsent(state.places)
            if stamp != nil { try scan.requireNoStagedChanges(retiring: entry.id) }
            var (count, example) = (0, "")
            let doubt: SealedScan.Doubt = { (address, error) throws(StorageError) in
                throw StorageError(
                    .busy, "whether the key \(entry.id) seals '\(address)' is unknown: \(error.message)",
                    hint: error.hint)
            }
            try scan.forEach(in: state.places, doubt: doubt) { (finding) throws(StorageError) in
                guard finding.header.keyID == entry.id else { return }
                if count == 0 { example = "\(finding.address)" }
                count += 1
            }
            guard count == 0 else {
                throw StorageError(
                    .busy,
                    "the key \(entry.id) still seals \(count == 1 ? "a value" : "\(count) values"), e.g. "
                        + "'\(example)'",
                    hint: "run: ld-host reseal; a value that it cannot open has to be restored or removed")
            }
            state.entries.removeAll { $0.id == entry.id }
            return true
        }
    }

    /// Makes the master keys forget the locations of a store that was moved or is gone. If a store has its name now,
    /// their folders go to that store. For a store that is configured as before, only missing locations are forgotten:
    /// all if it is empty, otherwise folders that do not exist.
    ///
    /// - Parameter store: The name of the store when something was sealed in it.
    /// - Returns: The number of forgotten locations.
    /// - Throws: `notFound` if there is no such location, or all are in a store that is configured as before.
    @discardableResult
    public func forgetPlaces(ofStore store: String) async throws -> Int {
        try await withRing(.master, .steady) { (scan) throws(StorageError) in
            var identities: Set<UInt64> = []
            for slot in scan.snapshot.stores { identities.insert(try slot.openIfNeeded().identity) }
            let now = try scan.snapshot.slot(ofStore: store)?.openIfNeeded()
            var count = 0
            for ring in [scan.ring] + (try scan.snapshot.rings.earlier()) where try ring.state() != nil {
                count += try ring.change { (state) throws(StorageError) in
                    let lost = state.places.filter { $0.store == store && !identities.contains($0.identity) }
                    let absent = try scan.absent(state.places).filter { $0.store == store }
                    state.places.subtract(lost)
                    state.places.formUnion(lost.compactMap { now?.sealedPlace($0.namespace) })
                    state.places.subtract(absent)
                    return lost.count + absent.count
                }
            }
            guard count > 0 else {
                throw StorageError(
                    .notFound, "\(scan.ring.name) looks nowhere for a store '\(store)' but where one is configured now")
            }
            return count
        }
    }

    private func change(
        _ name: KeyRingName, _ body: @escaping @Sendable (inout KeyRingState, KeyRing) throws(StorageError) -> Void
    ) async throws {
        try await withRing(name) { (scan) throws(StorageError) in
            try scan.ring.change { (state) throws(StorageError) in try body(&state, scan.ring) }
        }
    }

    private static func passive(
        _ id: String, in state: KeyRingState, _ ring: KeyRing
    ) throws(StorageError) -> KeyRingState.Entry {
        let entry = try key(id, in: state, ring)
        guard entry.use != .active else {
            throw StorageError(
                .busy, "the key \(entry.id) is the active one", hint: "run first: ld-host keys rotate")
        }
        return entry
    }

    /// A key by its id, or by a unique prefix of it.
    private static func key(
        _ id: String, in state: KeyRingState, _ ring: KeyRing
    ) throws(StorageError) -> KeyRingState.Entry {
        let found = state.entries.filter { $0.id == KeyID(id) || (id.count >= 4 && "\($0.id)".hasPrefix(id)) }
        guard let entry = found.first, found.count == 1 else {
            throw StorageError(
                found.isEmpty ? .notFound : .invalidOptions,
                "\(ring.name) has \(found.isEmpty ? "no key" : "more than one key") '\(id)'",
                hint: "run: ld-host keys list")
        }
        return entry
    }

    private static func describe(
        _ id: KeyID, _ state: KeyRingState, _ ring: KeyRing
    ) throws(StorageError) -> KeyDescription {
        guard let entry = state[id] else { throw StorageError(.notFound, "\(ring.name) has no key \(id)") }
        return KeyDescription(entry)
    }

    /// How a call looks for what a ring has sealed.
    enum Scanning {
        /// Not at all, or values that others may move meanwhile.
        case none
        /// No store is switched meanwhile: a value could be in a store that has been examined already.
        case steady
    }

    /// Runs `body` on a thread that may wait, with a ring and a scan of what it seals.
    func withRing<Result: Sendable>(
        _ name: KeyRingName, _ scanning: Scanning = .none,
        _ body: @escaping @Sendable (SealedScan) throws(StorageError) -> Result
    ) async throws(StorageError) -> Result {
        let snapshot = try await router.snapshot()
        return try await onIOThread { () throws(StorageError) in
            guard scanning != .none else { return try body(Self.scan(name, snapshot)) }
            return try SteadyWork.run(in: snapshot.settings.folders.state) { () throws(StorageError) in
                try body(Self.scan(name, router.follow()))
            }
        }
    }

    private static func scan(_ name: KeyRingName, _ snapshot: RouterSnapshot) throws(StorageError) -> SealedScan {
        let ring: KeyRing
        switch name {
        case .master: ring = try snapshot.rings.ring(named: snapshot.rings.current)
        case .store(let store):
            guard let slot = snapshot.slot(ofStore: store) else {
                throw StorageError(
                    .invalidConfiguration, "there is no store '\(store)'",
                    hint: "use one of: \(snapshot.stores.map(\.settings.name).joined(separator: ", "))")
            }
            guard let sealing = try slot.openIfNeeded().sealing else {
                throw StorageError(
                    .invalidConfiguration, "the store '\(store)' is not sealed, so it has no keys",
                    hint: "see stores.\(store).sealing in the configuration")
            }
            ring = sealing.ring
        }
        return SealedScan(snapshot: snapshot, name: name, ring: ring)
    }
}

/// The rings in use before `encryption.service` or `encryption.account` was changed.
extension StorageRouter.KeyManagement {
    /// The rings in the keychain's list that the configuration does not name, ordered by service and account; empty if
    /// the keychain's store cannot list. Values that such a ring has sealed are readable, and
    /// ``reseal(_:planOnly:progress:)`` includes them.
    public func formerRings() async throws -> [FormerRing] {
        try await withRing(.master) { (scan) throws(StorageError) in
            let rings = scan.snapshot.rings
            var found: [FormerRing] = []
            for ring in try rings.earlier() {
                guard let state = try ring.state() else { continue }
                let (service, account) = MasterRings.parts(of: ring.headerName)
                found.append(
                    FormerRing(
                        service: service, account: account, isStoreKey: false,
                        keys: state.entries.map { KeyDescription($0) }))
            }
            for entry in try rings.list().entries() where entry.kind == .storeKey {
                let place = StorageNamespace(domain: "keychain", scope: entry.service)
                if scan.snapshot.isConfigured(StorageAddress(place, name: entry.account)) { continue }
                found.append(
                    FormerRing(service: entry.service, account: entry.account, isStoreKey: true, keys: []))
            }
            return found.sorted { ($0.service, $0.account) < ($1.service, $1.account) }
        }
    }

    /// Adds a value to the keychain's list that the host did not add itself: a ring, so that it opens what it has
    /// sealed, or the key that the configuration names for a store's ring. Adding what someone else created lets
    /// everything open that they have sealed.
    ///
    /// - Returns: The ring's keys; empty for a store's key.
    /// - Throws: `notFound` if there is no value; `corrupt` if it is neither a ring nor the key of a configured store.
    @discardableResult
    public func adoptRing(service: String, account: String) async throws -> [KeyDescription] {
        try await withRing(.master) { (scan) throws(StorageError) in
            let value = try scan.snapshot.rings.value(service, account)
            guard let ring = try value.load(nil) else {
                throw StorageError(.notFound, "there is no key ring '\(service)/\(account)' in the keychain")
            }
            if scan.snapshot.isStoreKey(service, account) {
                try value.list.add(.storeKey, service, account)
                return []
            }
            let state = try ring.withBytes { (bytes) throws(StorageError) in
                try KeyRingState(decoding: bytes, of: "'\(service)/\(account)' of the keychain, as a key ring,")
            }
            try value.list.add(.ring, service, account)
            return state.entries.map { KeyDescription($0) }
        }
    }

    /// Removes a ring, or a store's key, from the keychain's list: from then on it opens nothing, and its value is an
    /// ordinary one, unless its service is the host's own. The value itself stays; ``adoptRing(service:account:)``
    /// reverts this for a ring. A process that has used the ring still opens with it until it ends.
    ///
    /// - Throws: `busy` for a ring that the configuration names; `notFound` if it is not on the list.
    public func disownRing(service: String, account: String) async throws {
        try await withRing(.master) { (scan) throws(StorageError) in
            let address = StorageAddress(StorageNamespace(domain: "keychain", scope: service), name: account)
            guard !scan.snapshot.isConfigured(address) else {
                throw StorageError(
                    .busy, "the configuration names '\(service)/\(account)', which stays on the keychain's list",
                    hint: "see encryption.service, encryption.account and the sealing of stores")
            }
            let list = try scan.snapshot.rings.list()
            guard try list.isListed(service, account) else {
                throw StorageError(
                    .notFound, "'\(service)/\(account)' is not on the keychain's list", hint: "run: ld-host keys list")
            }
            try list.remove(service, account)
        }
    }
}
