internal import FoundationEssentials
internal import LocalDataAPI

/// What a device takes back of its own records when it joins its group again, e.g. after it was restored from an older
/// image.
///
/// No pull takes over a value from an own record. A transport may give an earlier record of a name that this device has
/// removed since, and of other writers only their status tells such a record from one that counts. So the own records
/// are compared with the own status, too, once all other members' records are here.
extension SyncEngine {
    /// Takes over what this device had published before it lost its memory. A value that may be older than its removal
    /// is kept as a lost one, and its record is released: if other members have it, they publish it.
    func takeOwn() throws(StorageError) {
        guard entries.values.contains(where: { $0.published[group.me] != nil }) else { return }
        var doubtful: [SyncChange] = []
        var position: Data?
        var isMore = true
        while isMore {
            let page: [SyncRecord]
            (page, position, isMore) = try nextPage(after: position)
            for record in page where record.writer == group.me.text {
                guard let (_, content) = try opened(record),
                    content.counter == entries[record.name]?.published[group.me]?.counter
                else { continue }
                if counts(content) {
                    try takeOwn(content, name: record.name)
                } else if let change = keeping(content, name: record.name) {
                    doubtful.append(change)
                }
            }
        }
        try makeHeldRemovals()
        if parking.held.isEmpty { try commit(doubtful) }
    }

    private func takeOwn(_ content: SyncContent, name: String) throws(StorageError) {
        guard let (remote, address) = RemoteVersion.of(content) else { return }
        // A later version of its own is what this device had forgotten when it began again, and no reason to do so once
        // more.
        let wasRestored = isRestored
        defer { isRestored = wasRestored }
        let local = entries[name]?.state
        var change = try change(by: remote, content, address, of: group.me, name: name)
        change.entry?.isFormer = false
        // What was set here since is no successor of a version that this device had forgotten, whatever their times.
        if change.loser == nil, isEdited(name), let local, !local.isShared,
            local.version == change.entry?.state?.version,
            let value = remote.value, try group.hash(of: value.data, value.attributes) != local.hash
        {
            change.loser = SyncLoser(
                address: address, version: remote.version, winner: local.version, data: value.data,
                attributes: value.attributes)
        }
        let refused = try commit([change])
        if !refused.isEmpty { throw StorageError(.busy, "a value changed while sync changed it") }
    }

    /// Whether an own record is among those that this device had published last.
    private func counts(_ content: SyncContent) -> Bool {
        guard case .value = content.body else { return content.counter > progress.ended }
        let own = progress.writers[group.me]
        let latest = others.map { progress.writers[$0]?.status?.known[group.me]?.status ?? 0 }.max() ?? 0
        guard own?.statusCounter ?? 0 >= latest else { return false }
        guard let status = own?.status else { return true }
        // What this device removed, it had published before it reported that its removal has ended. What it published
        // until then and has not removed, all members have.
        if content.counter > min(status.ended, status.counter) { return true }
        // A status of this device while it joins says only what it has found of its own records itself.
        return !status.isJoining && status.records == table.digest(of: group.me)
    }

    /// The change that keeps the value of a record as a lost one.
    private func keeping(_ content: SyncContent, name: String) -> SyncChange? {
        guard case .value(let version, _, let address, let attributes, let data) = content.body,
            let entry = entries[name], entry.state?.version != version
        else { return nil }
        var change = SyncChange(name: name, entry: entry)
        change.loser = SyncLoser(
            address: address, version: version, winner: entry.state?.version, data: data, attributes: attributes)
        return change
    }
}

/// What a device does about its own records that are on the transport again although they have ended: the transport was
/// put back to an earlier state, or somebody has published them once more. The other members take them for replays, but
/// to a device that joins they are as good as new.
extension SyncEngine {
    /// What an own record says that this device does not know any more.
    struct Ghost {
        let counter: UInt64
        let version: SyncVersion
        let history: SyncHistory
        let address: String
    }

    /// Notes an own record that is older than what this device knows. Of a name, the last one counts: what a transport
    /// gives of one that was removed ends with its removal.
    func note(ghost content: SyncContent, name: String) {
        guard !progress.isJoining else { return }
        pulled.ghosts[name] =
            if case .value(let version, let history, let address, _, _) = content.body {
                Ghost(counter: content.counter, version: version, history: history, address: address)
            } else { nil }
    }

    /// Lets records be published in the place of ghosts: that another device has a later version, or that the value was
    /// removed. That removal is hardly later than the value, so nothing that was set since is lost.
    func withdrawGhosts() throws(StorageError) {
        defer { pulled.ghosts = [:] }
        guard !isRestored, !progress.isJoining else { return }
        var changes: [SyncChange] = []
        for (name, ghost) in pulled.ghosts.sorted(by: { $0.key < $1.key })
        where entries[name]?.published[group.me] == nil {
            var entry = entries[name] ?? SyncEntry(address: ghost.address)
            // A release of another device does not say which key it is about.
            entry.address = ghost.address
            // As one that was lost, it is replaced at once.
            entry.lost[group.me] = ghost.counter
            if entry.state == nil, entry.pending == nil, !entry.isParked, keys[name] != nil,
                ghost.version.time < HybridClock.latest
            {
                let removal = SyncVersion(time: ghost.version.time + 1, author: group.me)
                entry.state = SyncEntry.State(version: removal, history: ghost.history, hash: nil)
                entry.state?.history.add(removal)
                // Also of a manual key.
                entry.isRequested = true
            }
            changes.append(SyncChange(name: name, entry: entry))
            if changes.count >= 256 {
                try commit(changes)
                changes = []
            }
        }
        try commit(changes)
    }
}
