internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

/// The ledger of one destination, and what is kept of the values that its migrations replaced and removed. To be used
/// by the holder of the turn in the destination's store; see ``MigrationTurns``.
struct Ledger: Sendable {
    let access: StoreAccess
    /// The destination's, as text.
    let address: String
    private let place: ResolvedKey

    init(_ access: StoreAccess, of destination: ResolvedKey) throws(StorageError) {
        self.access = access
        address = "\(destination.address)"
        place = try LedgerPlace.page(
            named: LedgerPlace.pageName(of: address), in: destination.open, access.snapshot.settings)
    }

    var settings: HostSettings { access.snapshot.settings }

    /// The one of a page in whatever store.
    init(_ access: StoreAccess, of address: String, at place: ResolvedKey) {
        self.access = access
        self.address = address
        self.place = place
    }

    /// Its page; an empty one if nothing has been migrated there.
    func page() async throws(StorageError) -> LedgerPage {
        guard let stored = try await place.stored() else { return LedgerPage(of: address) }
        return try LedgerPage(await place.opened(stored), of: address)
    }

    /// Makes changes and says them, all or none.
    ///
    /// - Parameter views: The views that the changes are based on.
    /// - Returns: Whether that was still so; if not, nothing has changed.
    @discardableResult
    func commit(
        _ page: LedgerPage, with changes: [BatchChange] = [], views: [StoreView] = []
    ) async throws(StorageError) -> Bool {
        try await access.apply(changes + [try await change(page)], views: views)
    }

    /// The change that says a page.
    func change(_ page: LedgerPage) async throws(StorageError) -> BatchChange {
        try await change(place, to: page.encoded())
    }

    /// One change for ``commit(_:with:)``.
    func change(_ resolved: ResolvedKey, to data: Data?) async throws(StorageError) -> BatchChange {
        BatchChange(resolved, value: try await resolved.sealedValue(), data: data)
    }

    /// Keeps a key's stored value for a rollback; `nil` if the grace time is 0.
    ///
    /// - Returns: The change that keeps it, and the name that it is found again by.
    func image(
        of resolved: ResolvedKey, _ stored: Data
    ) async throws(StorageError) -> (change: BatchChange, name: String)? {
        guard settings.migrationGrace > 0 else { return nil }
        let name = LedgerPlace.imageName()
        let place = try LedgerPlace.image(name, of: resolved, try await resolved.storedAttributes()?.kept)
        return (try await change(place, to: try await resolved.opened(stored)), name)
    }

    /// The changes that remove the images of a row.
    func dropping(_ row: inout LedgerRow) async throws(StorageError) -> [BatchChange] {
        var changes: [BatchChange] = []
        for change in row.changes {
            guard let name = change.image else { continue }
            let resolved = try await access.resolveUnlisted(KeyReference(try change.key))
            changes.append(try await self.change(try LedgerPlace.image(name, of: resolved, nil), to: nil))
        }
        for index in row.written.indices { row.written[index].image = nil }
        for index in row.removed.indices { row.removed[index].image = nil }
        row.expires = nil
        return changes
    }

    /// The same for what can be removed now: what cannot, say because its store is not configured any more, stays, and
    /// keeps nothing else from being done.
    func droppingIfPossible(_ row: LedgerRow?) async -> (row: LedgerRow?, changes: [BatchChange]) {
        guard var row else { return (nil, []) }
        do throws(StorageError) {
            let changes = try await dropping(&row)
            return (row, changes)
        } catch {
            return (row, [])
        }
    }

    /// The changes that make way for another row of the same migration: images and witnesses go.
    func replacing(_ row: LedgerRow?) async -> [BatchChange] {
        await droppingIfPossible(row).changes + (row?.superseded ?? []).compactMap { dropping($0) }
    }

    /// The change that removes the witness of a superseded source, if it has one. The key that seals it is not needed.
    func dropping(_ superseded: LedgerRow.Change) -> BatchChange? {
        guard let name = superseded.witness else { return nil }
        return try? LedgerPlace.page(named: name, in: place.open, settings).changing(to: nil)
    }

    /// Removes the images whose time is over, or leaves them for the next time.
    func expire(_ page: inout LedgerPage) async {
        var next = page
        var changes: [BatchChange] = []
        for row in page.rows where row.isExpired(at: Self.now) {
            let dropped = await droppingIfPossible(row)
            next[row.id] = dropped.row
            changes += dropped.changes
        }
        guard !changes.isEmpty else { return }
        do throws(StorageError) {
            let dropped = page.rows.filter { $0.unwiped != nil && $0.isExpired(at: Self.now) }
            try await commit(next, with: changes)
            page = next
            for row in dropped { await wipe(row.id, in: &page) }
        } catch {
            // Nothing has changed, or all will have.
            return
        }
    }

    /// When images that are made now go.
    var expiry: Int64? {
        settings.migrationGrace > 0 ? Self.now(plusDays: settings.migrationGrace) : nil
    }

    /// Nanoseconds since 1970 UTC.
    static var now: Int64 { Moment.now }

    /// The moment in some days, or some days ago, within what 64 bits hold.
    static func now(plusDays days: Int) -> Int64 {
        Int64(clamping: Int128(now) + Int128(days) * 86_400 * 1_000_000_000)
    }
}

/// The ledger's page of one destination: what has been migrated to it. It lies in the destination's store, so that what
/// it says and what it is about change as one.
struct LedgerPage: Codable, Sendable {
    private static let form = 2
    /// That of pages of which no row is superseded: earlier programs read it.
    private static let plainForm = 1

    private var form: Int
    /// The destination.
    let address: String
    /// In the order of their first run.
    private(set) var rows: [LedgerRow] = []

    init(of address: String) {
        form = Self.plainForm
        self.address = address
    }

    /// - Throws: `corrupt` if the bytes are no page of this destination, `unsupported` if a later program wrote them:
    ///   what cannot be read is not a migration that never ran.
    init(_ bytes: Data, of address: String) throws(StorageError) {
        let page: LedgerPage
        guard Self.isWhole(bytes) else { throw Self.damaged(address) }
        do { page = try JSONDecoder().decode(LedgerPage.self, from: bytes) } catch {
            struct Form: Decodable { let form: Int }
            if let form = try? JSONDecoder().decode(Form.self, from: bytes).form, form > Self.form {
                throw Self.later(form, address)
            }
            throw Self.damaged(address)
        }
        guard page.form <= Self.form else { throw Self.later(page.form, address) }
        guard page.rows.allSatisfy({ $0.bulk?.isSound != false }) else {
            throw StorageError(
                .corrupt, "the ledger of migrations to '\(address)' is damaged: its counts contradict each other",
                hint: "restore it from a backup, or see: ld-host migrate ledger repair")
        }
        guard page.address.hasBytes(of: address) else {
            throw StorageError(.corrupt, "the ledger of migrations to '\(address)' is the one of '\(page.address)'")
        }
        self = page
    }

    /// The destination that bytes say they are the page of, if they say it.
    static func address(in bytes: Data) -> String? {
        struct Address: Decodable { let address: String }
        return try? JSONDecoder().decode(Address.self, from: bytes).address
    }

    private static func damaged(_ address: String) -> StorageError {
        StorageError(
            .corrupt, "the ledger of migrations to '\(address)' is damaged",
            hint: "restore it from a backup, or see: ld-host migrate ledger repair")
    }

    private static func later(_ form: Int, _ address: String) -> StorageError {
        StorageError(
            .unsupported, "the ledger of migrations to '\(address)' has form \(form), expected \(Self.form)",
            hint: "use the program that wrote it, or a later one")
    }

    /// JSON whose first member is the hash of what it would be without.
    func encoded() throws(StorageError) -> Data {
        var page = self
        page.form = rows.contains { $0.superseded != nil } ? Self.form : Self.plainForm
        let json = try Serializer<LedgerPage>.json.encode(page)
        return Self.prefix + Data(Self.digits(of: json).utf8) + Self.separator + json.dropFirst()
    }

    /// Whether a page has the hash of its bytes; what was written before pages had one counts as whole.
    private static func isWhole(_ bytes: Data) -> Bool {
        guard bytes.starts(with: prefix) else { return true }
        let rest = bytes.dropFirst(prefix.count)
        guard rest.dropFirst(16).starts(with: separator) else { return false }
        return rest.prefix(16).elementsEqual(
            digits(of: Data("{".utf8) + rest.dropFirst(16 + separator.count)).utf8)
    }

    private static func digits(of json: Data) -> String {
        let digits = String(StableHash.of(json), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static let prefix = Data("{\"hash\":\"".utf8)
    private static let separator = Data("\",".utf8)

    /// The row of a migration; set it to add or replace one.
    subscript(id: String) -> LedgerRow? {
        get { rows.first { $0.id == id } }
        set {
            guard let newValue else { return rows.removeAll { $0.id == id } }
            if let index = rows.firstIndex(where: { $0.id == id }) {
                rows[index] = newValue
            } else {
                rows.append(newValue)
            }
        }
    }
}
