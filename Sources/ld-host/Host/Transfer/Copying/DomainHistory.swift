internal import HostGround
internal import HostMigration
internal import HostPlugins
internal import HostStores
internal import HostSync
internal import LocalDataAPI

/// The history of migrations to and from some domains in a store, and their values in quarantine: what it takes to roll
/// back and restore once another store serves the domains. Calls may wait.
struct DomainHistory {
    let snapshot: RouterSnapshot
    let source: OpenStore
    let domains: [String]

    /// The names in the store, pages last, so that everything that a page refers to is copied before it.
    func names() throws(StorageError) -> [String] {
        let stored = try names(in: source)
        var wanted = quarantined(among: stored)
        var isWanted: [(prefix: String, suffix: String)] = []
        for (open, page) in pages() {
            let isOwn = open === source && isOne(page.address)
            if isOwn { wanted.insert(LedgerPlace.pageName(of: page.address)) }
            for row in page.rows {
                if isOwn { wanted.formUnion((row.superseded ?? []).compactMap(\.witness)) }
                for change in row.changes where isOne(change) {
                    // A copy of a sealed value is sealed again; the migration knows it by its witness.
                    wanted.formUnion([change.image, change.witness].compactMap(\.self))
                }
                guard let bulk = row.bulk else { continue }
                let mark = BulkLedger.mark(of: row.id, to: page.address)
                if isOwn { isWanted += [("chunk \(mark) ", ""), ("image \(mark) ", " destination")] }
                if isOne(bulk.source) { isWanted.append(("image \(mark) ", " source")) }
            }
        }
        let found = stored.filter { name in
            wanted.contains(name) || isWanted.contains { name.hasPrefix($0.prefix) && name.hasSuffix($0.suffix) }
        }
        let isPage = found.map { $0.hasPrefix(LedgerPlace.pagePrefix) }
        return zip(found, isPage).filter { !$1 }.map(\.0) + zip(found, isPage).filter(\.1).map(\.0)
    }

    /// The names of the domains' values that were put aside, and of their records. Unreadable records are skipped.
    private func quarantined(among names: [String]) -> Set<String> {
        Quarantine.Kind.allCases.reduce(into: []) { $0.formUnion(putAside($1, among: names)) }
    }

    private func putAside(_ kind: Quarantine.Kind, among names: [String]) -> Set<String> {
        let records = names.filter { name in
            guard name.hasPrefix(kind.recordPrefix),
                let place = try? LedgerPlace.page(named: name, in: source, snapshot.settings),
                let stored = try? place.readStored(), let bytes = try? place.opening(stored),
                let record = try? QuarantineRecord(bytes, id: name)
            else { return false }
            return isOne(record.key)
        }
        return Set(records.flatMap { [$0, kind.valueName(ofRecord: $0)] })
    }

    /// The pages of the store, and those of other stores that nobody has to unlock. Unreadable pages are skipped.
    private func pages() -> [(open: OpenStore, page: LedgerPage)] {
        var stores = [source]
        for slot in snapshot.stores where slot.settings.name != source.name {
            guard let open = try? slot.openIfNeeded(), !open.isKeychain else { continue }
            stores.append(open)
        }
        return stores.flatMap { open in
            ((try? names(in: open)) ?? []).compactMap { name in page(named: name, in: open).map { (open, $0) } }
        }
    }

    private func page(named name: String, in open: OpenStore) -> LedgerPage? {
        guard name.hasPrefix(LedgerPlace.pagePrefix),
            let place = try? LedgerPlace.page(named: name, in: open, snapshot.settings),
            let stored = try? place.readStored(), let bytes = try? place.opening(stored),
            let address = LedgerPage.address(in: bytes)
        else { return nil }
        return try? LedgerPage(bytes, of: address)
    }

    private func names(in open: OpenStore) throws(StorageError) -> [String] {
        guard open.store.abilities.enumeration != nil else { return [] }
        var names: [String] = []
        try open.store.forEachName(in: LedgerPlace.namespace) {
            names.append($0)
            return true
        }
        return names
    }

    private func isOne(_ change: LedgerRow.Change) -> Bool {
        change.place.map { domains.contains($0.domain) } ?? isOne(change.address)
    }

    private func isOne(_ address: String) -> Bool {
        (try? StorageAddress.parts(of: address)).map { domains.contains($0.domain) } ?? false
    }
}

/// What sync knows of the values of some domains in a store: beside the values in another store, it makes them the same
/// ones there. Without it they would be taken for new ones. Calls may wait.
struct DomainSync {
    let source: OpenStore
    let domains: [String]

    /// The names in the store; with the domain that has it, also how far sync has come.
    func names() throws(StorageError) -> [String] {
        guard source.store.abilities.enumeration != nil else { return [] }
        var stored: [String] = []
        try source.store.forEachName(in: HostSettings.syncNamespace) {
            stored.append($0)
            return true
        }
        let entries = stored.filter { $0.hasPrefix(SyncPlace.entryPrefix) }
        var wanted: Set<String> = []
        for name in entries where try isOne(name) {
            wanted.insert(name)
            wanted.insert(SyncPlace.parkedPrefix + name.dropFirst(SyncPlace.entryPrefix.count))
        }
        let isHome = domains.contains(SyncDevice.homeDomain)
        return stored.filter {
            let isOfValue = $0.hasPrefix(SyncPlace.entryPrefix) || $0.hasPrefix(SyncPlace.parkedPrefix)
            return isOfValue ? wanted.contains($0) : isHome && $0 != SyncPlace.changesName
        }
    }

    /// Whether an entry is of a value of one of the domains. A damaged one is of none.
    private func isOne(_ name: String) throws(StorageError) -> Bool {
        let value = try source.value(at: StorageAddress(HostSettings.syncNamespace, name: name))
        guard let data = try value.get(), let entry = SyncEntry(data),
            let parts = try? StorageAddress.parts(of: entry.address)
        else { return false }
        return domains.contains(parts.domain)
    }
}
