internal import LocalDataAPI

/// The keys that seal values: what an operator does with them.
extension StorageRouter {
    /// The keys of a ring, in the order in which they were made; none if there is no ring yet.
    ///
    /// - Parameter counting: Whether to count the values that each seals, which looks at every value's header.
    public func keys(of name: KeyRingName = .master, counting: Bool = false) async throws -> [KeyDescription] {
        try await withRing(name) { (scan) throws(StorageError) in
            guard let state = try scan.ring.state() else { return [] }
            guard counting else { return state.entries.map { KeyDescription($0) } }
            var counts: [KeyID: Int] = [:]
            // Values that cannot be looked into are what reseal reports, and count for no key.
            try scan.forEach(in: state.places, doubt: { (_, _) throws(StorageError) in }) {
                (finding) throws(StorageError) in counts[finding.header.keyID, default: 0] += 1
            }
            return state.entries.map { KeyDescription($0, values: counts[$0.id] ?? 0) }
        }
    }

    /// Makes a key that seals nothing until it is promoted by ``rotateKeys(of:to:)``; the first of a ring is active at
    /// once. Lets every process have a key before the first value is sealed under it.
    public func createKey(in name: KeyRingName = .master) async throws -> KeyDescription {
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

    /// Makes a key the one that seals; the one that did opens from then on. Nothing that is stored changes.
    ///
    /// - Parameter id: The key; a new one if `nil`.
    /// - Throws: `notFound` if the ring does not have it; `busy` if it is disabled.
    @discardableResult
    public func rotateKeys(of name: KeyRingName = .master, to id: String? = nil) async throws -> KeyDescription {
        try await withRing(name) { (scan) throws(StorageError) in
            try scan.ring.change { (state) throws(StorageError) in
                let chosen: KeyID
                if let id {
                    let entry = try Self.key(id, in: state, scan.ring)
                    guard entry.use != .disabled else {
                        throw StorageError(
                            .busy, "the key \(entry.id) is disabled, and does not seal",
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

    /// Lets a key neither seal nor open until it is enabled again. A process that has used the ring before may go on
    /// opening with the key until it seals something under the ring or ends.
    ///
    /// - Throws: `notFound`; `busy` for the active key.
    public func disableKey(_ id: String, of name: KeyRingName = .master) async throws {
        try await change(name) { (state, ring) throws(StorageError) in
            state.set(.disabled, of: try Self.passive(id, in: state, ring).id)
        }
    }

    /// Lets a disabled key open again; fine if it does.
    ///
    /// - Throws: `notFound`.
    public func enableKey(_ id: String, of name: KeyRingName = .master) async throws {
        try await change(name) { (state, ring) throws(StorageError) in
            let entry = try Self.key(id, in: state, ring)
            if entry.use == .disabled { state.set(.decryptOnly, of: entry.id) }
        }
    }

    /// Removes a key for good, if it seals nothing.
    ///
    /// - Throws: `notFound`; `busy` for the active key, and for one that still seals something, with an example; what
    ///   keeps a place from being looked at.
    public func retireKey(_ id: String, of name: KeyRingName = .master) async throws {
        try await withRing(name) { (scan) throws(StorageError) in
            // The ring is held alone: nothing is sealed under any of its keys between the look and the removal.
            try scan.ring.change { (state) throws(StorageError) in
                let entry = try Self.passive(id, in: state, scan.ring)
                // What an interrupted batch has put aside may be sealed with it.
                try BatchIntent.requireNone(scan.snapshot)
                var (count, example) = (0, "")
                let doubt: SealedScan.Doubt = { (address, error) throws(StorageError) in
                    throw StorageError(
                        .busy, "whether the key \(entry.id) seals '\(address)' cannot be told: \(error.message)",
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
                        "the key \(entry.id) still seals \(count == 1 ? "a value" : "\(count) values"), e.g. '\(example)'",
                        hint: "run: ld-host reseal")
                }
                state.entries.removeAll { $0.id == entry.id }
            }
        }
    }

    /// Lets the master keys no longer look for what they sealed where a store was that has been moved or is gone. What
    /// they know of its folders goes to the store that has its name now, if there is one.
    ///
    /// - Parameter store: The name of the store when something was sealed in it.
    /// - Returns: How many places were forgotten.
    /// - Throws: `notFound` if there is no such place, or each is in a store that is configured as it was.
    @discardableResult
    public func forgetPlaces(ofStore store: String) async throws -> Int {
        try await withRing(.master) { (scan) throws(StorageError) in
            var identities: Set<UInt64> = []
            for slot in scan.snapshot.stores { identities.insert(try slot.openIfNeeded().identity) }
            let now = try scan.snapshot.slot(ofStore: store)?.openIfNeeded()
            var count = 0
            for ring in [scan.ring] + (try scan.snapshot.rings.earlier()) where try ring.state() != nil {
                count += try ring.change { (state) throws(StorageError) in
                    let lost = state.places.filter { $0.store == store && !identities.contains($0.identity) }
                    state.places.subtract(lost)
                    state.places.formUnion(lost.compactMap { now?.sealedPlace($0.namespace) })
                    return lost.count
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
                .busy, "the key \(entry.id) is the one that seals", hint: "run first: ld-host keys rotate")
        }
        return entry
    }

    /// A key by its id, or by the start of it if that fits one alone.
    private static func key(
        _ id: String, in state: KeyRingState, _ ring: KeyRing
    ) throws(StorageError) -> KeyRingState.Entry {
        let found = state.entries.filter { $0.id == KeyID(id) || (id.count >= 4 && "\($0.id)".hasPrefix(id)) }
        guard let entry = found.first, found.count == 1 else {
            throw StorageError(
                .notFound, "\(ring.name) has \(found.isEmpty ? "no key" : "more than one key") '\(id)'",
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

    /// Runs `body` on a thread that may wait, with a ring and the way to what it seals.
    func withRing<Result: Sendable>(
        _ name: KeyRingName, _ body: @escaping @Sendable (SealedScan) throws(StorageError) -> Result
    ) async throws(StorageError) -> Result {
        let snapshot = try await snapshot()
        return try await onIOThread { () throws(StorageError) in
            let ring: KeyRing
            switch name {
            case .master: ring = try snapshot.rings.ring(named: snapshot.rings.current)
            case .store(let store):
                guard let slot = snapshot.slot(ofStore: store) else {
                    throw StorageError(
                        .invalidConfiguration, "there is no store '\(store)'",
                        hint: "there are: \(snapshot.stores.map(\.settings.name).joined(separator: ", "))")
                }
                guard let sealing = try slot.openIfNeeded().sealing else {
                    throw StorageError(
                        .invalidConfiguration, "the store '\(store)' is not sealed, so it has no keys",
                        hint: "see stores.\(store).sealing in the configuration")
                }
                ring = sealing.ring
            }
            return try body(SealedScan(snapshot: snapshot, name: name, ring: ring))
        }
    }
}
