internal import LocalDataAPI

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
            return isOfValue ? wanted.contains($0) : isHome
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
