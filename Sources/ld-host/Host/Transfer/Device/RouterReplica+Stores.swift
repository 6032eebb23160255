internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostStores
internal import HostSync
internal import LocalDataAPI

/// How this device notices that a store has not all that sync had stored there: see ``SyncedStores``.
extension RouterReplica {
    func outdated() throws(StorageError) -> OutdatedKeys? {
        saved =
            try SyncPlace.stores(in: home).valueNow().map { (data) throws(StorageError) in try SyncedStores(data) }
            ?? SyncedStores()
        known = saved
        let putBack = try storesPutBack()
        let moved = try MovedDomains(snapshot.settings.folders)
        var outdated = OutdatedKeys()
        for key in byAddress.values where putBack.contains(key.resolved.open.identity) {
            outdated.putBack.insert(key.address)
        }
        for (domain, keys) in Dictionary(grouping: byAddress.values, by: \.domain) {
            guard let end = notice(domain, in: keys[0].resolved.open, moved) else { continue }
            returned.insert(domain)
            for key in keys {
                if let value = try read(key.address), (value.written ?? 0) >> 16 > end {
                    outdated.rewritten.insert(key.address)
                } else {
                    outdated.returned.insert(key.address)
                }
            }
        }
        isOutdated = !putBack.isEmpty || !returned.isEmpty
        return isOutdated ? outdated : nil
    }

    /// The identities of stores that were put back to an earlier state.
    private func storesPutBack() throws(StorageError) -> Set<UInt64> {
        var found: Set<UInt64> = []
        for open in servingStores where open !== home {
            var stored = ByteReader(.bigEndian, try SyncPlace.changes(in: open).valueNow() ?? Data())
            let count = stored.number(UInt64.self) ?? 0
            known.changes[open.name] = count
            guard count < saved.changes[open.name] ?? 0 else { continue }
            found.insert(open.identity)
            snapshot.log(
                .warning, "sync",
                "store '\(open.name)' is as it was before sync last changed it, so this device adopts the group's "
                    + "values again")
        }
        return found
    }

    /// Notes which store serves a domain.
    ///
    /// - Returns: Until when it served before, in milliseconds since 1970 UTC, if another one did meanwhile, and its
    ///   values were not brought here since.
    private func notice(_ domain: String, in open: OpenStore, _ moved: MovedDomains) -> UInt64? {
        let service = SyncedStores.Service(domain: domain, store: open.name)
        for other in known.ends.keys where other.domain == domain && other != service && known.ends[other] == 0 {
            known.ends[other] = now()
        }
        let end = known.ends.updateValue(0, forKey: service) ?? 0
        guard end > 0, !moved.haveArrived(domain, in: open, since: end) else { return nil }
        snapshot.log(
            .warning, "sync",
            "store '\(open.name)' serves '\(domain)' again, which another store served meanwhile, so this device "
                + "adopts the group's values again")
        return end
    }

    /// What is saved together with progress.
    func saving(_ progress: Data) throws(StorageError) -> [BatchChange] {
        let change = try SyncPlace.progress(in: home).changing(to: progress)
        return known == saved ? [change] : [change, try SyncPlace.stores(in: home).changing(to: known.encoded())]
    }

    /// The number that a store has once sync has changed something there: it follows the clock, so that one that was
    /// put back and changed since does not get a number for the second time.
    func nextNumber(of open: OpenStore) -> UInt64 {
        let number = known.changes[open.name] ?? 0
        return isOutdated ? number + 1 : max(number + 1, now() << 16)
    }

    /// That number as the store keeps it.
    static func encoded(_ number: UInt64) -> Data {
        var writer = ByteWriter(.bigEndian)
        writer.add(number)
        return Data(writer.bytes)
    }

    /// Notes what was stored.
    ///
    /// - Parameters:
    ///   - number: The number of a store in which entries have changed.
    ///   - hasProgress: Whether progress was saved, and so all that was known until then.
    func noteChange(in open: OpenStore, _ number: UInt64, savingProgress hasProgress: Bool) {
        if hasProgress { (saved, isOutdated) = (known, false) }
        if open !== home { known.changes[open.name] = number }
    }
}
