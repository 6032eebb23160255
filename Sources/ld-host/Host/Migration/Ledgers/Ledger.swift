internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
package import HostStores
package import LocalDataAPI

/// The ledger of one destination, a key or a range, and the images of the values that its migrations replaced and
/// removed. Only the holder of the lock of the destination's store uses it; see ``MigrationTurns``. Calls may wait,
/// unless they are `async`.
package struct Ledger: Sendable {
    let access: StoreAccess
    /// The destination's, as text.
    let address: String
    private let place: ResolvedKey

    /// The ledger of a key.
    package init(_ access: StoreAccess, of destination: ResolvedKey) throws(StorageError) {
        try self.init(access, of: "\(destination.address)", in: destination.open)
    }

    /// The ledger of an address that a store serves.
    init(_ access: StoreAccess, of address: String, in open: OpenStore) throws(StorageError) {
        self.access = access
        self.address = address
        place = try LedgerPlace.page(named: LedgerPlace.pageName(of: address), in: open, access.snapshot.settings)
    }

    var snapshot: RouterSnapshot { access.snapshot }

    /// For how long images are kept, in days.
    var grace: Int { snapshot.settings.migrationGrace }

    /// The page; an empty one if nothing has been migrated to the destination.
    func page() throws(StorageError) -> LedgerPage {
        guard let stored = try place.readStored() else { return LedgerPage(of: address) }
        return try LedgerPage(place.opening(stored), of: address)
    }

    /// The change that writes a page.
    func change(_ page: LedgerPage) throws(StorageError) -> BatchChange { place.changing(to: try page.encoded()) }

    /// Makes changes, all or none.
    ///
    /// - Parameter views: The views that the changes are based on.
    /// - Returns: Whether the views were still current; if not, nothing has changed.
    func apply(_ changes: [BatchChange], views: [StoreView] = []) throws(StorageError) -> Bool {
        guard !changes.isEmpty else { return true }
        return try BatchRun(snapshot: snapshot, changes: changes, views: views, progress: {}).run()
    }

    /// When images that are made now expire; `nil` if none are made.
    var expiry: Int64? { grace > 0 ? Self.now(plusDays: grace) : nil }

    /// Nanoseconds since 1970 UTC.
    package static var now: Int64 { Moment.now }

    /// The moment in some days, or some days ago, within what 64 bits hold.
    static func now(plusDays days: Int) -> Int64 {
        Int64(clamping: Int128(now) + Int128(days) * 86_400 * 1_000_000_000)
    }
}

/// The same for tasks.
extension Ledger {
    package func page() async throws(StorageError) -> LedgerPage {
        try await place.open.wait("reading '\(place.address)'") { () throws(StorageError) in try page() }
    }

    @discardableResult
    func commit(_ page: LedgerPage, with changes: [BatchChange] = []) async throws(StorageError) -> Bool {
        try await access.apply(changes + [change(page)])
    }

    /// Takes a step of a migration on a thread that may wait. It has the store's deadline if its values and the ledger
    /// are in one store.
    ///
    /// - Parameter keys: The values that the step reads and changes; `nil` if it may take any time.
    func step<State: Sendable>(
        _ state: inout State, with keys: [ResolvedKey]?, _ body: @escaping @Sendable (inout State) throws -> Void
    ) async throws {
        let open = place.open
        let work: @Sendable () throws(StorageError) -> Result<State, any Error> = { [given = state] in
            Result {
                var state = given
                try body(&state)
                return state
            }
        }
        let hasDeadline = keys?.allSatisfy { $0.open === open } == true
        state = try await (hasDeadline ? open.wait("migrating to '\(address)'", work) : onIOThread(work)).get()
    }
}

/// Images of the values that a migration of one key replaced or removed; its row has their names.
extension Ledger {
    /// The change that keeps a value, and the image's name; `nil` if the grace time is 0.
    func image(of key: ResolvedKey, _ stored: Data) throws(StorageError) -> BatchChange? {
        guard grace > 0 else { return nil }
        let place = try LedgerPlace.image(LedgerPlace.imageName(), of: key, try key.readAttributes()?.kept)
        return place.changing(to: try key.opening(stored))
    }

    /// The changes that remove the images of a row, and the hashes of what it wrote.
    func dropping(_ row: inout LedgerRow) async throws(StorageError) -> [BatchChange] {
        var changes: [BatchChange] = []
        for change in row.changes {
            let names = [change.image, change.witness].compactMap(\.self)
            guard !names.isEmpty else { continue }
            let key = try await access.key(of: change)
            for name in names { changes.append(try LedgerPlace.image(name, of: key, nil).changing(to: nil)) }
        }
        for index in row.written.indices { (row.written[index].image, row.written[index].witness) = (nil, nil) }
        for index in row.removed.indices { row.removed[index].image = nil }
        row.expires = nil
        return changes
    }

    /// The changes that make way for another row of the same migration: images and witnesses go. An image stays that
    /// cannot be removed now, e.g. because its store is no longer configured.
    func replacing(_ row: LedgerRow?) async -> [BatchChange] {
        guard var row else { return [] }
        let images = try? await dropping(&row)
        return (images ?? []) + (row.superseded ?? []).compactMap { dropping($0) }
    }

    /// The change that removes the witness of a superseded source, if it has one. The key that seals it is not needed.
    func dropping(_ superseded: LedgerRow.Change) -> BatchChange? {
        guard let name = superseded.witness else { return nil }
        return try? LedgerPlace.page(named: name, in: place.open, snapshot.settings).changing(to: nil)
    }

    /// Removes the images that have expired, or leaves them for the next time.
    func expire(_ page: inout LedgerPage) async {
        var next = page
        var changes: [BatchChange] = []
        let expired = page.rows.filter { $0.isExpired(at: Self.now) }
        for var row in expired {
            guard let images = try? await dropping(&row) else { continue }
            next[row.id] = row
            changes += images
        }
        // If it fails, nothing has changed, or all will have.
        guard !changes.isEmpty, (try? await commit(next, with: changes)) != nil else { return }
        page = next
        for row in expired where row.unwiped != nil { await wipe(row.id, in: &page) }
    }
}

/// Hashes of sealed values that a migration wrote, by which a value is known after it was re-encrypted, or if the
/// migration ended before it read the value back. A hash says something of a secret, so it is kept as an image is: in
/// the value's own store, and sealed as the value is.
extension Ledger {
    /// The change that keeps the hash of a value, and its name; `nil` if the value is not sealed.
    func witness(of data: Data, at key: ResolvedKey) throws(StorageError) -> (change: BatchChange, name: String)? {
        guard !key.layers.isEmpty else { return nil }
        let name = LedgerPlace.writtenName()
        let place = try LedgerPlace.image(name, of: key, nil)
        return (place.changing(to: SourceWitness.bytes(of: StableHash.of(data))), name)
    }

    /// Whether an opened value is the one that a migration wrote; not if that is unknown.
    func knows(_ data: Data, at key: ResolvedKey, _ change: LedgerRow.Change) throws(StorageError) -> Bool {
        guard let name = change.witness else { return false }
        let place = try LedgerPlace.image(name, of: key, nil)
        guard let stored = try place.readStored() else { return false }
        return try place.opening(stored) == SourceWitness.bytes(of: StableHash.of(data))
    }
}
