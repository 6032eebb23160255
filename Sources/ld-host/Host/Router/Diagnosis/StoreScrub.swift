internal import HostGround
internal import HostMoving
internal import HostPlugins
internal import HostStores
internal import LocalDataAPI

extension Diagnosis {
    /// Reads every value of every store of a snapshot; see ``scrub(_:progress:)``.
    static func scrub(
        _ snapshot: RouterSnapshot, _ progress: @escaping @Sendable (_ done: Int) -> Void
    ) async throws(StorageError) -> [Finding] {
        try await onIOThread { () throws(StorageError) in
            var (findings, done) = ([Finding](), 0)
            let sealed = try masterScan(snapshot)
            for slot in snapshot.stores {
                var scrub = StoreScrub(snapshot: snapshot, sealed: sealed)
                findings += scrub.run(slot) {
                    done += 1
                    progress(done)
                }
            }
            return findings
        }
    }

    /// The scan that finds what master keys have sealed; `nil` if opening it takes a passphrase.
    private static func masterScan(_ snapshot: RouterSnapshot) throws(StorageError) -> SealedScan? {
        if snapshot.settings.routes["keychain"]?.store.sealing?.source.asksForIt == true { return nil }
        let rings = snapshot.rings
        return SealedScan(
            snapshot: snapshot, name: .master, ring: try rings.ring(named: rings.current), earlier: try rings.earlier())
    }
}

/// Reads every value of a store. Every call may wait.
private struct StoreScrub {
    let snapshot: RouterSnapshot
    /// Finds what master keys have sealed, which is opened, too; `nil` to leave it.
    let sealed: SealedScan?
    private var findings: [Finding] = []
    private var (intact, unrecorded, edited, damaged) = (0, 0, 0, 0)

    init(snapshot: RouterSnapshot, sealed: SealedScan?) { (self.snapshot, self.sealed) = (snapshot, sealed) }

    mutating func run(_ slot: StoreSlot, _ advance: () -> Void) -> [Finding] {
        // Other findings report a store that cannot be opened.
        guard let open = try? slot.openIfNeeded() else { return [] }
        guard open.store.abilities.enumeration != nil else {
            return [Finding(.scrub, "store '\(open.name)' cannot list its values, and was not read")]
        }
        do throws(StorageError) {
            for (place, names) in try places(of: open) {
                try open.store.forEachName(names, inPagesOf: place) { name in
                    look(at: StorageAddress(place, name: name), in: open)
                    advance()
                }
            }
        } catch {
            findings.append(Finding(.scrub, "store '\(open.name)' cannot be read to the end", error))
        }
        return findings + [summary(open.name)]
    }

    private func summary(_ name: String) -> Finding {
        var parts = ["\(intact + unrecorded + edited + damaged) values were read", "\(damaged) of them are damaged"]
        if edited > 0 { parts.append("\(edited) were edited outside LocalData") }
        if unrecorded > 0 { parts.append("\(unrecorded) have no checksum, so damage to them cannot be noticed") }
        return Finding(.scrub, "store '\(name)': \(parts.joined(separator: ", "))", isProblem: damaged + edited > 0)
    }

    private mutating func look(at address: StorageAddress, in open: OpenStore) {
        do throws(StorageError) {
            guard let state = try state(of: address, in: open) else { return }
            switch state {
            case .intact: intact += 1
            case .unrecorded: unrecorded += 1
            case .edited:
                edited += 1
                findings.append(
                    Finding(
                        .scrub, "'\(address)' of store '\(open.name)' was edited outside LocalData",
                        hint: "if that was on purpose, store it again with 'ld-host set'", isProblem: true))
            }
        } catch {
            damaged += 1
            findings.append(Finding(.scrub, "'\(address)' of store '\(open.name)' cannot be read", error))
        }
    }

    /// The value's state; `nil` if it has been removed.
    private func state(of address: StorageAddress, in open: OpenStore) throws(StorageError) -> ValueState? {
        let isOwn = HostSettings.isReserved(address.place) ? true : try snapshot.isReserved(address, in: open)
        let layers = isOwn ? [] : open.sealing.map { [$0.layer(for: address)] } ?? []
        let value = try SealedValue(at: address, in: open, layers: layers)
        var state = ValueState.unrecorded
        if open.store.abilities.verification != nil {
            guard let found = try open.store.verify(value.handle) else { return nil }
            state = found
        }
        let finding = isOwn ? nil : try sealed?.finding(at: address, in: open)
        var isOpened = !layers.isEmpty
        if let finding, let sealed {
            guard try Resealing(scan: sealed, style: nil).reader(of: finding).read(.chunks, { _ in true }) else {
                return nil
            }
            isOpened = true
        } else if isOpened || open.store.abilities.verification == nil {
            guard try value.read(.chunks, { _ in true }) else { return nil }
        }
        // A value that opens is authentic.
        return state == .unrecorded && isOpened ? .intact : state
    }

    private func places(of open: OpenStore) throws(StorageError) -> [(StorageNamespace, ListedNames)] {
        var places: [StorageNamespace: ListedNames] = [:]
        try open.store.forEachPlace {
            places[$0] = .all
            return true
        }
        for (domain, route) in snapshot.settings.routes where route.store.name == open.name {
            places.merge(snapshot.knownPlaces(of: domain, in: open).mapValues(\.names)) { listed, _ in listed }
        }
        return places.sorted { "\($0.key)" < "\($1.key)" }.map { ($0, $1) }
    }
}
