internal import FoundationEssentials
internal import LocalDataAPI

// Values that this device's software cannot use: of a key that it does not know, or of a newer version of its type.
extension SyncEngine {
    /// Keeps a version aside, if no later one is there.
    func park(
        _ remote: RemoteVersion, _ content: SyncContent, _ local: LocalState, name: String
    ) throws(StorageError) -> SyncChange {
        var change = SyncChange(name: name, entry: local.entry)
        let kept = try local.entry.isParked ? parkedVersion(name) : nil
        guard kept.map({ $0.version < remote.version }) ?? true else { return change }
        change.entry?.isParked = remote.value != nil
        if remote.value != nil {
            change.parked = .set(content.encoded())
        } else if local.entry.isParked {
            change.parked = .discard
        }
        return change
    }

    /// Takes in what was kept aside and can be used now, e.g. since the app was updated.
    func takeUsable() throws(StorageError) {
        for (name, entry) in entries where entry.isParked && keys[name] != nil {
            guard let remote = try parkedVersion(name), let value = remote.value,
                replica.canUse(value.data, value.attributes, at: entry.address)
            else { continue }
            var local = try current(name, entry.address)
            local.entry.isParked = false
            var change = try merge(kept(remote, at: entry.address), into: local, name: name)
            change.parked = .discard
            try commit([change])
        }
        mayUseParked = false
    }

    private func parkedVersion(_ name: String) throws(StorageError) -> RemoteVersion? {
        guard let data = try replica.parked(name), let content = SyncContent(data),
            case .value(let version, let history, _, let attributes, let data) = content.body
        else { return nil }
        return RemoteVersion(version: version, history: history, value: (data, attributes))
    }
}
