internal import ByteCoding
internal import HostGround
internal import HostMigration
internal import HostMoving
internal import HostPlugins
internal import HostStores
internal import LocalDataAPI

/// The values of some domains on their way from one store to another. The source's count. Every call may wait.
struct SwitchedPart {
    let copy: StoreCopy
    private let snapshot: RouterSnapshot
    /// The latest time of a value that was brought over, by the source's clock; 0 before the first.
    private(set) var latest: Int64 = 0
    /// What of the ledger of migrations belongs to the domains.
    private var ledger: Set<StorageAddress> = []

    init(
        _ snapshot: RouterSnapshot, from source: OpenStore, to destination: OpenStore, domains: [String]
    ) throws(StorageError) {
        self.snapshot = snapshot
        copy = try StoreCopy(
            snapshot: snapshot, source: source.forMoving, destination: destination.forMoving, domains: domains)
    }

    /// The identity of the source, as changes of it are noted.
    var identity: UInt64 { copy.source.store.contents }
    /// Those of both stores.
    var stores: [UInt64] { [identity, copy.destination.store.contents] }

    /// The values of the domains in the destination, with what it knows of their migrations and of sync.
    func arrived() throws(StorageError) -> [StorageAddress] {
        try StoreCopy(
            snapshot: snapshot, source: copy.destination, destination: copy.source, domains: copy.domains
        ).addresses()
    }

    /// Whether it is a value of one of the domains.
    func isValue(_ address: StorageAddress) -> Bool { copy.domains.contains(address.place.domain) }

    /// Copies all values.
    ///
    /// - Returns: How many there are.
    mutating func bringAll(_ progress: (Int, Int) -> Void) throws(StorageError) -> Int {
        let addresses = try copy.addresses()
        ledger = Set(addresses.filter { $0.place == LedgerPlace.namespace })
        try bring(addresses) { progress($0, addresses.count) }
        return addresses.count(where: isValue)
    }

    /// Makes the destination have what the source has where it was changed. Nobody syncs meanwhile, nor migrates.
    mutating func follow(_ changes: [StorageAddress]) throws(StorageError) {
        // A value that cannot be read may have been put aside.
        if changes.contains(where: { $0.place == LedgerPlace.namespace }) {
            ledger.formUnion(try copy.addresses().filter { $0.place == LedgerPlace.namespace })
        }
        let wanted = changes.filter { isValue($0) || ledger.contains($0) }
        try bring(wanted.sorted { ("\($0.place)", $0.name) < ("\($1.place)", $1.name) })
    }

    /// Makes the destination have what the source has at some addresses: a value, or none.
    private mutating func bring(_ addresses: [StorageAddress], _ progress: (Int) -> Void = { _ in })
        throws(StorageError)
    {
        var done = 0
        while done < addresses.count {
            let step = Array(addresses[done...].prefix { $0.place == addresses[done].place }.prefix(copy.mostValues))
            let outcomes = copy.copiesInSteps && step.count > 1 ? try move(step) : [false]
            for isMoved in outcomes {
                if !isMoved { try bring(addresses[done]) }
                done += 1
            }
            progress(done)
        }
    }

    /// Copies many small values in one change of the destination.
    ///
    /// - Returns: Whether each of the first ones is done; at least one.
    private mutating func move(_ addresses: [StorageAddress]) throws(StorageError) -> [Bool] {
        guard let place = addresses.first?.place else { return [] }
        let outcomes = try MovingStep(to: AtomicScope(place, in: copy.destination)).move(addresses) {
            (address, view) throws(StorageError) in
            let target = try copy.value(at: address, in: copy.destination)
            _ = try view.read(target)
            let from = try copy.value(at: address, in: copy.source)
            guard let size = try from.attributes().map({ $0.size ?? 0 }), size <= MoveLimits.whole,
                let (data, attributes) = try from.attributed()
            else { return nil }
            return MovingStep.Item(to: target, data, kept: attributes)
        } _: { (address, item) throws(StorageError) in
            _ = try copy.verified(address, item.target, StableHash.of(item.data), writtenAt: item.kept)
            return item.kept.modified ?? 0
        }
        for case let time? in outcomes { latest = max(latest, time) }
        return outcomes.map { $0 != nil }
    }

    private mutating func bring(_ address: StorageAddress) throws(StorageError) {
        for _ in 0..<MoveLimits.attempts {
            do throws(StorageError) {
                if try bringOnce(address) { return }
            } catch {
                // It was removed while it was being read.
                guard error.code == .notFound else { throw error }
            }
        }
        throw StorageError(
            .busy, "'\(address)' was changed again and again, so it could not be copied", hint: "try again")
    }

    /// - Returns: Whether the destination has what the source had; if not, another process intervened.
    private mutating func bringOnce(_ address: StorageAddress) throws(StorageError) -> Bool {
        switch try copy.copy(address, replacing: .anything) {
        case .copied, .removed:
            let time = try copy.value(at: address, in: copy.source).attributes()?.modified
            latest = max(latest, time ?? 0)
            return true
        case .changed: return false
        case .gone:
            // If it has come back meanwhile, that is another change.
            let target = try copy.value(at: address, in: copy.destination)
            _ = try target.store.remove(target.handle)
            return true
        }
    }

    /// Removes what the source has of the domains, with what it knows of their migrations and of sync.
    ///
    /// - Parameter latest: The latest time of what was brought over. A later value stays: somebody changed it who does
    ///   not follow.
    /// - Returns: How many values were removed, and which were changed.
    func removeSource(
        after latest: Int64?, _ progress: (Int, Int) -> Void
    ) throws(StorageError) -> (removed: Int, changed: [StorageAddress]) {
        let addresses = try copy.addresses()
        var (removed, changed) = (0, [StorageAddress]())
        for (index, address) in addresses.enumerated() {
            let from = try copy.value(at: address, in: copy.source)
            let isRemoved = try from.remove(in: copy.source) { () throws(StorageError) in
                guard let latest, let modified = try from.attributes()?.modified else { return true }
                return modified <= latest
            }
            if isRemoved {
                if isValue(address) { removed += 1 }
            } else if try from.store.exists(from.handle) {
                changed.append(address)
            }
            progress(index + 1, addresses.count)
        }
        return (removed, changed)
    }

    /// Removes what a switch that is undone has copied, and lets sync know that the values are where they were.
    func undo() throws(StorageError) {
        try removeCopies()
        let folders = snapshot.settings.folders
        guard try !MovedDomains(folders).moves.isEmpty else { return }
        try SyncDevice.lock(folders).exclusive { (_) throws(StorageError) in
            var moved = try MovedDomains(folders)
            moved.bring(Set(copy.domains), to: copy.source)
            try moved.save()
        }
    }

    /// Removes what the destination has of the domains.
    func removeCopies() throws(StorageError) {
        for address in try arrived() {
            let target = try copy.value(at: address, in: copy.destination)
            _ = try target.store.remove(target.handle)
        }
    }
}
