internal import FoundationEssentials
internal import LocalDataAPI

// What this device's software cannot use: values and removals of a key that it does not know, and values of a newer
// version of its type.
extension SyncEngine {
    /// Keeps a version aside, if no later one is there.
    func park(
        _ remote: RemoteVersion, _ content: SyncContent, _ local: LocalState, name: String
    ) throws(StorageError) -> SyncChange {
        var change = SyncChange(name: name, entry: local.entry)
        let kept = try local.entry.isParked ? parkedVersion(name) : nil
        guard kept.map({ $0.version < remote.version }) ?? true else { return change }
        // Without a value here, a removal has nothing to do later. But a key that is not known yet may have its value
        // at another place, from which a later release of the app brings it.
        let isNeeded = remote.value != nil || local.entry.state?.hash != nil || keys[name] == nil
        change.entry?.isParked = isNeeded
        if isNeeded {
            change.parked = .set(content.encoded())
        } else if local.entry.isParked {
            change.parked = .discard
        }
        return change
    }

    /// Takes in what was kept aside and can be used now, e.g. since the app was updated.
    func takeUsable() throws(StorageError) {
        for name in parking.parked where keys[name] != nil {
            guard let entry = entries[name], let remote = try parkedVersion(name),
                remote.value.map({ replica.canUse($0.data, $0.attributes, at: entry.address) }) ?? true
            else { continue }
            var local = try current(name, entry.address)
            local.entry.isParked = false
            var change = try merge(kept(remote, at: entry.address), into: local, name: name)
            if case .remove = change.value { change = hold(remote, local, name: name) }
            change.parked = .discard
            try commit([change])
        }
        parking.mayUseParked = false
    }

    /// Lets go what is kept aside if a later version is taken in. It is kept as a lost value if that one was made
    /// without knowledge of it.
    func endParking(before remote: RemoteVersion, _ change: inout SyncChange) throws(StorageError) {
        guard change.entry?.isParked == true, let parked = try parkedVersion(change.name),
            parked.version < remote.version
        else { return }
        change.entry?.isParked = false
        change.parked = .discard
        guard let value = parked.value, change.loser == nil, !remote.history.includes(parked.version) else { return }
        change.loser = SyncLoser(
            address: change.address, version: parked.version, winner: remote.version, data: value.data,
            attributes: value.attributes)
    }

    func parkedVersion(_ name: String) throws(StorageError) -> RemoteVersion? {
        guard let data = try replica.parked(name), let content = SyncContent(data) else { return nil }
        return RemoteVersion.of(content)?.0
    }
}
