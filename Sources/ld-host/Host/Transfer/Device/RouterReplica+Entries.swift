internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import HostStores
internal import HostSync
internal import LocalDataAPI

/// Where the entries of keys are, and those that another store left behind.
extension RouterReplica {
    /// An entry in another store than the one that serves the key's domain.
    private struct Stray {
        let name: String
        let entry: SyncEntry
        let store: OpenStore
    }

    func forEachEntry(_ body: (String, SyncEntry) throws(StorageError) -> Void) throws(StorageError) {
        var strays: [Stray] = []
        let serving = servingStores
        let earlier = earlierStores(beside: serving)
        let former = formerStores(beside: serving + earlier)
        for store in serving + earlier + former {
            let isFormer = former.contains { $0 === store }
            var found: [(name: String, entry: SyncEntry)] = []
            do throws(StorageError) { found = try entries(in: store) } catch {
                // One that does not serve any more may not answer any more.
                let isServing = serving.contains { $0 === store }
                guard !isServing, ![.corrupt, .unsupported].contains(error.code) else { throw error }
            }
            for (name, entry) in found {
                if let key = key(at: entry.address), key.resolved.open !== store {
                    strays.append(Stray(name: name, entry: entry, store: store))
                    continue
                }
                guard !isFormer, stores[name] == nil else { continue }
                stores[name] = store
                try body(name, entry)
            }
        }
        for stray in strays { if let entry = try entry(of: stray) { try body(stray.name, entry) } }
    }

    /// What an entry says that its key's store does not have; `nil` if that has an entry of its own.
    private func entry(of stray: Stray) throws(StorageError) -> SyncEntry? {
        guard let serving = stores[stray.name] else {
            try requireMoved(stray.entry, from: stray.store)
            stores[stray.name] = stray.store
            return stray.entry
        }
        let kept = try SyncPlace.entry(stray.name, in: serving).valueNow()
        // While the app did not know the key, its records were kept aside.
        guard stray.entry.isParked, let kept else {
            let place = try SyncPlace.entry(stray.name, in: stray.store)
            _ = try place.sealedValue(place.layers).remove()
            return nil
        }
        var entry = try Self.entry(kept, named: stray.name, in: serving)
        entry.add(recordsOf: stray.entry)
        stores[stray.name] = stray.store
        return entry
    }

    /// The stores that have entries.
    var servingStores: [OpenStore] { distinct([home] + byAddress.values.map(\.resolved.open)) }

    /// Other stores in which sync has changed something: they may have the entries of keys that this release of the app
    /// has elsewhere, or not at all.
    private func earlierStores(beside serving: [OpenStore]) -> [OpenStore] {
        let others = saved.changes.keys.sorted().compactMap { try? snapshot.slot(ofStore: $0)?.openIfNeeded() }
            .filter { $0.store.abilities.enumeration != nil }
        return Array(distinct(serving + others).dropFirst(serving.count))
    }

    /// Other stores that served domains of the keys before.
    private func formerStores(beside serving: [OpenStore]) -> [OpenStore] {
        let domains = Set(byAddress.values.map(\.domain))
        let others = domains.flatMap { snapshot.holders(of: $0) }.filter { $0.store.abilities.enumeration != nil }
        return Array(distinct(serving + others).dropFirst(serving.count))
    }

    private func distinct(_ stores: [OpenStore]) -> [OpenStore] {
        var seen: Set<UInt64> = []
        return stores.filter { seen.insert($0.identity).inserted }
    }

    /// A value that stayed in the store which served its domain before was not removed, and one that was written before
    /// it does not replace it.
    private func requireMoved(_ entry: SyncEntry, from store: OpenStore) throws(StorageError) {
        guard let hash = entry.state?.hash, let key = key(at: entry.address), !returned.contains(key.domain) else {
            return
        }
        let now = try read(entry.address)
        if let now, try group.hash(of: now.data, now.attributes) == hash { return }
        let value = try store.value(at: key.resolved.address)
        guard try value.store.exists(value.handle) else { return }
        let serving = key.resolved.open.name
        let copying = "ld-host store copy \(store.name) \(serving) --domain \(key.domain)"
        guard let now else {
            throw StorageError(
                .invalidConfiguration,
                "'\(entry.address)' is in store '\(store.name)', and now '\(serving)' serves its domain and does not have "
                    + "it; syncing would remove it from the other devices",
                hint: "copy what is there: \(copying)")
        }
        let written = try value.attributes()?.writtenAt
        guard now.written ?? 0 <= written ?? .max else { return }
        throw StorageError(
            .invalidConfiguration,
            "'\(entry.address)' in store '\(serving)', which serves its domain now, is older than in store "
                + "'\(store.name)', which served it before; syncing would replace the later value on the other devices",
            hint: "copy what is later there: \(copying); first see what differs: \(copying) --plan")
    }

    /// The entries in a store, by the names of their records: read at once, if the store can.
    private func entries(in store: OpenStore) throws(StorageError) -> [(name: String, entry: SyncEntry)] {
        let (place, prefix) = (HostSettings.syncNamespace, SyncPlace.entryPrefix)
        guard store.sealing == nil, store.store.abilities.bulk != nil else {
            let names: [String] = try store.repeating { () throws(StorageError) in
                var names: [String] = []
                try store.store.forEachName(in: place, prefix: prefix) {
                    names.append(String($0.dropFirst(prefix.count)))
                    return true
                }
                return names
            }
            var entries: [(name: String, entry: SyncEntry)] = []
            for name in names {
                guard let data = try SyncPlace.entry(name, in: store).valueNow() else { continue }
                entries.append((name, try Self.entry(data, named: name, in: store)))
            }
            return entries
        }
        return try store.repeating { () throws(StorageError) in
            var entries: [(name: String, entry: SyncEntry)] = []
            var failure: StorageError?
            try store.store.forEachValue(in: place, prefix: prefix) { value in
                guard let bytes = value.value else { return true }
                let name = String(decoding: value.name.dropFirst(prefix.utf8.count), as: UTF8.self)
                do throws(StorageError) {
                    entries.append((name, try Self.entry(Data(bytes), named: name, in: store)))
                } catch { failure = error }
                return failure == nil
            }
            if let failure { throw failure }
            return entries
        }
    }

    private static func entry(
        _ data: Data, named name: String, in store: OpenStore
    ) throws(StorageError) -> SyncEntry {
        if let entry = SyncEntry(data) { return entry }
        throw SyncForm.error(
            decoding: data, known: SyncEntry.version,
            "sync's record of a value, '\(HostSettings.syncNamespace)/\(SyncPlace.entryPrefix)\(name)' in store "
                + "'\(store.name)',",
            ifDamaged: "restore the store from a backup, or leave the group and join again")
    }
}
