internal import ByteCoding
package import FoundationEssentials
internal import HostGround
internal import HostPlugins
package import HostStores
package import LocalDataAPI

/// Values put aside: those that no version of their keys reads, those that lost against another device's, and those of
/// another device that this program does not read yet. They are kept beside the ledger of their own store, and sealed
/// as they were.
package struct Quarantine: Sendable {
    /// Why values are put aside.
    package enum Kind: CaseIterable, Sendable {
        /// No version of the key reads them.
        case undecodable
        /// Another device's version won.
        case conflict
        /// Another device wrote them, with a later version of the app.
        case early
    }

    let access: StoreAccess
    let kind: Kind

    package init(access: StoreAccess, kind: Kind = .undecodable) { (self.access, self.kind) = (access, kind) }

    /// A value in quarantine.
    package struct Item: Sendable {
        package let id: String
        package let record: QuarantineRecord
        package let open: OpenStore
        /// Where the record is.
        fileprivate let page: ResolvedKey

        /// Whether its value has expired, so that only the record of it is left.
        fileprivate var isExpired: Bool { record.attributes.expires.map { $0 <= Ledger.now } ?? false }
    }

    /// The first words of the commands for these values.
    private var command: String { kind == .conflict ? "ld-host sync conflicts" : "ld-host quarantine" }

    private var settings: HostSettings { access.snapshot.settings }

    /// Keeps the stored value of a key.
    ///
    /// - Parameters:
    ///   - unread: The bytes that no version reads; others that were stored since stay. `nil` for whatever is stored.
    ///   - removes: Whether the key then has no value; otherwise it keeps it, and a value that is in quarantine already
    ///     is not kept twice.
    ///   - reason: Why no version reads it.
    /// - Returns: The id to find it again by; `nil` if there is nothing to keep.
    package func keep(
        _ key: AnyStorageKey, _ resolved: ResolvedKey, unread: Data? = nil, removes: Bool, reason: String
    ) async throws(StorageError) -> String? {
        for _ in 0..<Self.attempts {
            var views: [AtomicScope: StoreView] = [:]
            guard let stored = try await resolved.stored(&views) else { return nil }
            let value = try await resolved.opened(stored)
            if let unread, value != unread { return nil }
            let mark = StableHash.of(stored)
            if !removes, let known = try await items(in: resolved.open).found.first(where: { $0.holds(mark, of: key) })
            {
                return known.id
            }
            let id = "\(IntentID.next())"
            var record = QuarantineRecord(
                key, value, try await resolved.storedAttributes(), mark: mark, reason: reason)
            if removes { record.isWaiting = true }
            let (place, page) = try places(of: id, resolved, record)
            var changes = [
                try await change(place, to: value),
                try await change(page, to: try Serializer<QuarantineRecord>.json.encode(record)),
            ]
            if removes { changes.append(try await change(resolved, to: nil)) }
            if try await access.apply(changes, views: Array(views.values)) { return id }
        }
        throw StorageError(.busy, "'\(resolved.address)' was changed again and again; try again")
    }

    /// The changes that keep bytes of a key whose layers need no provider.
    package func changes(
        keeping value: Data, _ attributes: ValueAttributes, of key: AnyStorageKey, _ resolved: ResolvedKey,
        reason: String
    ) throws(StorageError) -> [BatchChange] {
        // The bytes need not be, or have been, in the store.
        let record = QuarantineRecord(key, value, attributes, mark: 0, reason: reason)
        let (place, page) = try places(of: "\(IntentID.next())", resolved, record)
        return [
            place.changing(to: value), page.changing(to: try Serializer<QuarantineRecord>.json.encode(record)),
        ]
    }

    /// Keeps another device's value of a key until a program reads it.
    ///
    /// - Parameters:
    ///   - written: When it was written, in nanoseconds since 1970 UTC.
    ///   - former: Items that it replaces.
    package func keep(
        _ value: Data, _ attributes: ValueAttributes, written: Int64, of key: AnyStorageKey, _ resolved: ResolvedKey,
        insteadOf former: [Item]
    ) async throws(StorageError) {
        var record = QuarantineRecord(key, value, attributes, mark: 0, reason: "another device wrote it")
        (record.isWaiting, record.written) = (true, written)
        let (place, page) = try places(of: "\(IntentID.next())", resolved, record)
        var changes = [
            try await change(place, to: value),
            try await change(page, to: try Serializer<QuarantineRecord>.json.encode(record)),
        ]
        for item in former { changes += try await dropping(item, try await self.place(of: item).value) }
        try await access.apply(changes)
    }

    private func places(
        of id: String, _ resolved: ResolvedKey, _ record: QuarantineRecord
    ) throws(StorageError) -> (value: ResolvedKey, page: ResolvedKey) {
        (
            try LedgerPlace.image(kind.valuePrefix + id, of: resolved, record.attributes),
            try LedgerPlace.page(named: kind.recordPrefix + id, in: resolved.open, settings)
        )
    }

    /// How often a value is read again that was changed meanwhile.
    private static let attempts = 4

    /// The items of a store whose values have not expired, in the order of their ids, and why some cannot be read.
    package func items(in open: OpenStore) async throws(StorageError) -> (found: [Item], failures: [StorageError]) {
        var (found, failures): ([Item], [StorageError]) = ([], [])
        for name in try await names(in: open) {
            do throws(StorageError) {
                if let item = try await item(named: name, in: open), !item.isExpired { found.append(item) }
            } catch { failures.append(error) }
        }
        return (found, failures)
    }

    /// The names of a store's records, in the order of their ids.
    private func names(in open: OpenStore) async throws(StorageError) -> [String] {
        guard open.store.abilities.enumeration != nil else { return [] }
        return try await open.write("listing the quarantine in '\(open.name)'") { (store) throws(StorageError) in
            var names: [String] = []
            try store.forEachName(in: LedgerPlace.namespace, prefix: kind.recordPrefix) {
                names.append($0)
                return true
            }
            return names
        }
    }

    private func item(named name: String, in open: OpenStore) async throws(StorageError) -> Item? {
        let page = try LedgerPlace.page(named: name, in: open, settings)
        guard let stored = try await page.stored() else { return nil }
        let id = String(name.dropFirst(kind.recordPrefix.count))
        return Item(id: id, record: try QuarantineRecord(try await page.opened(stored), id: id), open: open, page: page)
    }

    /// The items of a key that wait for a program that reads them, the oldest first.
    package func waiting(for key: AnyStorageKey, in open: OpenStore) async throws(StorageError) -> [Item] {
        try await items(in: open).found.filter {
            $0.record.isWaiting == true && $0.record.key.address.hasBytes(of: key.address)
        }
    }

    /// Lets the items of a key wait no longer: they stay, and come back only by ``restore(_:replaces:)``.
    package func endWaiting(for key: AnyStorageKey, in open: OpenStore) async throws(StorageError) {
        for item in try await waiting(for: key, in: open) {
            var record = item.record
            record.isWaiting = nil
            let data = try Serializer<QuarantineRecord>.json.encode(record)
            try await access.apply([try await change(item.page, to: data)])
        }
    }

    /// The items of all stores, and why some stores or items cannot be read.
    package func items() async -> (found: [Item], failures: [StorageError]) {
        var (found, failures): ([Item], [StorageError]) = ([], [])
        for slot in access.snapshot.stores {
            do throws(StorageError) {
                let items = try await items(in: try await opened(slot))
                found += items.found
                failures += items.failures
            } catch { failures.append(error) }
        }
        return (found, failures)
    }

    /// The item with an id.
    ///
    /// - Throws: `notFound`, with why stores could not be searched if some could not; `invalidOptions` for the
    ///   beginning of several ids.
    package func item(_ id: String) async throws(StorageError) -> Item {
        if let item = await exactItem(id) { return item }
        let all = await items()
        let found = all.found.filter { $0.id.hasPrefix(id) }
        guard found.count < 2 || id.isEmpty else {
            throw StorageError(
                .invalidOptions, "the ids of \(found.count) values that are put aside begin with '\(id)'",
                hint: "give more of the id; see: \(kind == .conflict ? command : "\(command) list")")
        }
        guard !id.isEmpty, let item = found.first else {
            throw StorageError(
                .notFound,
                "nothing put aside has the id '\(id)'"
                    + all.failures.prefix(1).map { "; not searched: \($0.message)" }.joined())
        }
        return item
    }

    private func opened(_ slot: StoreSlot) async throws(StorageError) -> OpenStore {
        try await onIOThread { () throws(StorageError) in try slot.openIfNeeded() }
    }

    /// The item with exactly an id, which no other has to be read for; `nil` if no store that can be read has it.
    private func exactItem(_ id: String) async -> Item? {
        guard IntentID(id) != nil else { return nil }
        for slot in access.snapshot.stores {
            guard let open = try? await opened(slot) else { continue }
            if let item = try? await item(named: kind.recordPrefix + id, in: open), !item.isExpired { return item }
        }
        return nil
    }

    /// The bytes of an item, opened.
    package func value(of item: Item) async throws(StorageError) -> Data {
        let place = try await place(of: item).value
        guard let stored = try await place.stored() else {
            throw StorageError(.corrupt, "the value of '\(item.id)' that was put aside is missing")
        }
        return try await place.opened(stored)
    }

    /// Puts an item back under its key, and takes it out of quarantine.
    ///
    /// - Parameter replaces: Whether a value that the key has now is replaced.
    /// - Throws: `busy` if the key has a value that is not replaced.
    package func restore(_ item: Item, replaces: Bool) async throws(StorageError) {
        let value = try await value(of: item)
        let (key, place) = try await place(of: item)
        var views: [AtomicScope: StoreView] = [:]
        let stored = try await key.stored(&views)
        guard stored == nil || replaces || StableHash.of(stored ?? Data()) == item.record.key.before else {
            throw StorageError(
                .busy, "'\(key.address)' has another value now, which restoring '\(item.id)' would replace",
                hint: "remove that value first, or replace it: \(command) restore --replace \(item.id)")
        }
        var changes = try await dropping(item, place)
        let attributes = key.attributes == nil ? nil : item.record.attributes
        changes.append(try await change(try key.writing(attributes), to: value))
        guard try await access.apply(changes, views: Array(views.values)) else {
            throw StorageError(.busy, "'\(key.address)' was changed meanwhile", hint: "try again")
        }
    }

    /// Puts an item back under its key, and keeps the value that it replaces in its stead.
    package func exchange(_ item: Item) async throws(StorageError) {
        let value = try await value(of: item)
        let (key, place) = try await place(of: item)
        var views: [AtomicScope: StoreView] = [:]
        var changes = try await dropping(item, place)
        if let stored = try await key.stored(&views) {
            changes += try self.changes(
                keeping: try await key.opened(stored), try await key.storedAttributes() ?? ValueAttributes(),
                of: try item.record.key.key, key, reason: "replaced by an earlier version")
        }
        let attributes = key.attributes == nil ? nil : item.record.attributes
        changes.append(try await change(try key.writing(attributes), to: value))
        guard try await access.apply(changes, views: Array(views.values)) else {
            throw StorageError(.busy, "'\(key.address)' was changed meanwhile", hint: "try again")
        }
    }

    /// Removes an item for good.
    package func drop(_ item: Item) async throws(StorageError) {
        try await access.apply(try await dropping(item, try await place(of: item).value))
    }

    private func dropping(_ item: Item, _ place: ResolvedKey) async throws(StorageError) -> [BatchChange] {
        [try await change(place, to: nil), try await change(item.page, to: nil)]
    }

    private func place(of item: Item) async throws(StorageError) -> (key: ResolvedKey, value: ResolvedKey) {
        let key = try await access.resolveUnlisted(KeyReference(try item.record.key.key))
        return (key, try LedgerPlace.image(kind.valuePrefix + item.id, of: key, nil))
    }

    private func change(_ resolved: ResolvedKey, to data: Data?) async throws(StorageError) -> BatchChange {
        BatchChange(resolved, value: try await resolved.sealedValue(), data: data)
    }
}

extension Quarantine {
    /// Removes the items whose time is over; what cannot be removed now stays for the next time.
    package func expire(after days: Int) async {
        let oldest = Ledger.now(plusDays: -days)
        for slot in access.snapshot.stores {
            guard let open = try? await opened(slot), let names = try? await names(in: open) else { continue }
            // The ids say when, so that only what goes is read.
            for name in names {
                guard let id = IntentID(String(name.dropFirst(kind.recordPrefix.count))), id.created < oldest,
                    let item = try? await item(named: name, in: open)
                else { continue }
                try? await drop(item)
            }
        }
    }
}

extension Quarantine.Kind {
    /// The prefix of the names of records.
    package var recordPrefix: String {
        switch self {
        case .undecodable: "quarantine "
        case .conflict: "conflict "
        case .early: "early "
        }
    }

    /// The prefix of the names of values.
    var valuePrefix: String {
        switch self {
        case .undecodable: "quarantined "
        case .conflict: "conflicting "
        case .early: "waiting "
        }
    }

    /// The name of the value of a record.
    package func valueName(ofRecord name: String) -> String { valuePrefix + name.dropFirst(recordPrefix.count) }
}

extension Quarantine.Item {
    /// Whether it is the value with this hash of this key.
    fileprivate func holds(_ mark: UInt64, of key: AnyStorageKey) -> Bool {
        record.key.before == mark && record.key.address.hasBytes(of: key.address)
    }
}
