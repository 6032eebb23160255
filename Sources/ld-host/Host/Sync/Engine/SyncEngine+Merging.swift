package import FoundationEssentials
package import LocalDataAPI

/// A version of a key that another device has made.
package struct RemoteVersion {
    let version: SyncVersion
    let history: SyncHistory
    /// `nil` for a removal.
    package let value: (data: Data, attributes: ValueAttributes)?

    /// The version that a record says, and its address; `nil` if it says none.
    package static func of(_ content: SyncContent) -> (RemoteVersion, address: String)? {
        switch content.body {
        case .value(let version, let history, let address, let attributes, let data):
            (RemoteVersion(version: version, history: history, value: (data, attributes)), address)
        case .removal(let version, let history, let address):
            (RemoteVersion(version: version, history: history, value: nil), address)
        case .release, .status: nil
        }
    }
}

extension SyncEngine {
    /// Decides between a key's value here and another version.
    ///
    /// - Returns: The change that is to be made, with the entry in any case.
    func merge(_ remote: RemoteVersion, into local: LocalState, name: String) throws(StorageError) -> SyncChange {
        var change = SyncChange(name: name, entry: local.entry)
        let hash = try remote.value.map { (value) throws(StorageError) in
            try group.hash(of: value.data, value.attributes)
        }
        guard var state = local.entry.state else { return try take(remote, hash, SyncHistory(), local, change) }
        if state.hash == hash, state.version == remote.version || !state.history.includes(remote.version) {
            state.history.add(remote.history)
            let version = max(state.version, remote.version)
            change.entry?.state = SyncEntry.State(
                version: version, history: state.history, hash: hash, isShared: true,
                expires: remote.value?.attributes.expires)
            return change
        }
        let isWeak = isWeak(local.entry)
        var loses = isWeak
        if state.version != remote.version, !isWeak {
            // Whatever the histories say, the greater version wins on every device.
            if state.history.includes(remote.version), remote.version < state.version { return change }
            if remote.history.includes(state.version), state.version < remote.version {
                let isUnknown = state.version.author == group.me && remote.history.isPast(state.version)
                let isShared = state.isShared || isSharedElsewhere(state.version, name)
                guard !isShared || isUnknown else {
                    return try take(remote, hash, state.history, local, change)
                }
                // The device was restored from an older image, and has given a version a second time.
                isRestored = true
                loses = !isEdited(name)
                renew(&state, writtenAt: local.value?.written)
            }
        }
        if !loses, let merged = try merged(remote, hash, with: state, local, change) { return merged }
        if loses || state.isLess(than: remote.version, hash) {
            change.loser = local.value.map {
                SyncLoser(
                    address: local.entry.address, version: state.version, winner: remote.version, data: $0.data,
                    attributes: $0.attributes)
            }
            // A version that nobody else has seen is not one that the winner has replaced.
            return try take(remote, hash, isWeak ? SyncHistory() : state.history, local, change)
        }
        change.loser = remote.value.map {
            SyncLoser(
                address: local.entry.address, version: remote.version, winner: state.version, data: $0.data,
                attributes: $0.attributes)
        }
        state.history.add(remote.history)
        change.entry?.state = state
        return change
    }

    /// Whether a record says a version of a key at another of its places: it is known at each of them since the key
    /// moved, and published where the key was then.
    private func isSharedElsewhere(_ version: SyncVersion, _ name: String) -> Bool {
        keys.formerNames.contains { key, former in
            guard key == name, let state = entries[former]?.state else { return false }
            return state.version == version && state.isShared
        }
    }

    /// Whether a key's value was here before the device joined, and nobody else knows of it: what the group has wins.
    func isWeak(_ entry: SyncEntry) -> Bool {
        guard progress.isJoining, let state = entry.state, state.version.author == group.me else { return false }
        return !state.isShared && (entry.isFormer || state.version.isFromBefore)
    }

    /// Gives a state a version that no other value has had.
    ///
    /// - Parameter written: When its value was written, if that is known: it may be older than what the group has.
    func renew(_ state: inout SyncEntry.State, writtenAt written: UInt64?) {
        let time = clock.time(ofChangeAt: written, after: state.version.time)
        state.version = SyncVersion(time: time, author: group.me)
        state.history.add(state.version)
    }

    /// The change that makes a version the one of this device.
    private func take(
        _ remote: RemoteVersion, _ hash: SyncHash?, _ known: SyncHistory, _ local: LocalState, _ started: SyncChange
    ) throws(StorageError) -> SyncChange {
        localChanges.edited.remove(started.name)
        var change = started
        var history = known
        history.add(remote.history)
        let state = SyncEntry.State(
            version: remote.version, history: history, hash: hash, isShared: true,
            expires: remote.value?.attributes.expires)
        change.entry?.isFormer = false
        change.entry?.changed = 0
        if let value = remote.value {
            change.value = .set(value.data, value.attributes)
        } else if local.value != nil {
            change.value = .remove
        }
        return replacing(local, with: state, change)
    }

    /// The change that makes a new version of two, if the key has a way to merge them. Devices that merge the same two
    /// get versions of their own with the same value, of which the greater one stays.
    private func merged(
        _ remote: RemoteVersion, _ hash: SyncHash?, with ours: SyncEntry.State, _ local: LocalState,
        _ started: SyncChange
    ) throws(StorageError) -> SyncChange? {
        guard let value = local.value, let (data, attributes) = remote.value else { return nil }
        let other = LocalValue(data: data, attributes: attributes, mark: nil)
        let isLess = ours.isLess(than: remote.version, hash)
        let (lesser, greater) = isLess ? (value, other) : (other, value)
        guard let result = try replica.merge(lesser, greater, at: local.entry.address) else { return nil }
        let newAttributes = replica.kept(result.attributes, at: local.entry.address)
        var history = ours.history
        history.add(remote.history)
        let latest = max(ours.version.time, remote.version.time)
        let version = SyncVersion(time: clock.time(ofChangeAt: nil, after: latest), author: group.me)
        history.add(version)
        let newHash = try group.hash(of: result.data, newAttributes)
        var change = started
        if newHash != ours.hash { change.value = .set(result.data, newAttributes) }
        let state = SyncEntry.State(
            version: version, history: history, hash: newHash, expires: newAttributes.expires)
        return replacing(local, with: state, change)
    }

    /// Completes a change of the value that is here.
    private func replacing(_ local: LocalState, with state: SyncEntry.State, _ started: SyncChange) -> SyncChange {
        var change = started
        change.expected = local.value
        change.entry?.state = state
        noteIntent(of: &change, local, state)
        return change
    }

    /// Notes what a change is about to make of a value, for a store that cannot change value and entry as one. If the
    /// process ends in between, ``current(_:_:)`` finds out how far it came.
    ///
    /// - Parameter next: What the store is to hold; without a hash if the value goes.
    func noteIntent(of change: inout SyncChange, _ local: LocalState, _ next: SyncEntry.State) {
        guard change.changesValue, !replica.isAtomic(local.entry.address) else { return }
        // Without the record: if the process ends now, it counts again.
        var intent = entries[change.name] ?? SyncEntry(address: local.entry.address)
        // A removal that was held may be held again, and then has replaced no more than its record says.
        let wasHeld = intent.isHeld && next.hash == nil
        (intent.state, intent.pending, intent.isHeld) = (local.entry.state, wasHeld ? intent.pending : next, false)
        change.intent = intent
    }
}

extension SyncEntry.State {
    /// The order of versions. A device that was restored from an older image may give one version twice; then the hash
    /// decides, everywhere in the same way.
    func isLess(than other: SyncVersion, _ otherHash: SyncHash?) -> Bool {
        guard version == other else { return version < other }
        guard let hash, let otherHash else { return hash == nil && otherHash != nil }
        return hash < otherHash
    }
}

// Removals.
extension SyncEngine {
    /// Keeps a removal until the pull is complete.
    func hold(_ remote: RemoteVersion, _ local: LocalState, name: String) -> SyncChange {
        var entry = local.entry
        entry.pending = SyncEntry.State(version: remote.version, history: remote.history, hash: nil, isShared: true)
        entry.isHeld = true
        return SyncChange(name: name, entry: entry)
    }

    /// Makes the removals of a pull, unless they are so many that somebody has to consent.
    func makeHeldRemovals(accepting isAccepted: Bool = false) throws(StorageError) {
        guard isAccepted || removalsToAccept == 0 else { return }
        for name in parking.held.sorted() {
            guard let entry = entries[name], let pending = entry.pending else { continue }
            var local = try current(name, entry.address)
            (local.entry.pending, local.entry.isHeld) = (nil, false)
            let remote = RemoteVersion(version: pending.version, history: pending.history, value: nil)
            var change = try merge(remote, into: local, name: name)
            try endParking(before: remote, &change)
            let refused = try commit([change])
            // The value changed at this moment; the next step sees the change, and tries again.
            if refused.isEmpty { continue }
            localChanges.notice(name)
        }
    }

    /// Consents to the removals that wait.
    package func acceptRemovals() throws(StorageError) {
        try makeHeldRemovals(accepting: true)
        try step()
    }
}
