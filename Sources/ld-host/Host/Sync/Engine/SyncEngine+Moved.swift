internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import LocalDataAPI

/// Keys that other releases of the app have at other addresses.
extension SyncEngine {
    /// The state of a value that is here since the app was updated: the one that it had at the key's former place, or
    /// if it was changed there since, one as of that time. So it is the same version on all devices, whichever is
    /// updated first, and later changes win.
    func stateBefore(
        move hash: SyncHash, to address: String, _ value: LocalValue, _ entry: SyncEntry
    ) throws(StorageError) -> SyncEntry.State? {
        // Nobody publishes it yet, which would look as if the group had removed it.
        guard !progress.isJoining, let origin = replica.origin(of: address), origin.digest == StableHash.of(value.data)
        else { return nil }
        let former = try lastFormerState(of: address, origin)?.state
        var state: SyncEntry.State
        if let former, former.hash == hash {
            state = former
        } else {
            guard let modified = origin.modified else { return nil }
            let written = ValueAttributes(modified: modified).writtenAt
            let version = SyncVersion(
                time: clock.time(ofChangeAt: written, after: former?.version.time ?? 0), author: group.me)
            var history = former?.history ?? SyncHistory()
            history.add(version)
            state = SyncEntry.State(
                version: version, history: history, hash: hash, expires: value.attributes.expires)
        }
        guard let own = entry.state else { return state }
        guard own.version < state.version else { return nil }
        state.history.add(own.history)
        return state
    }

    /// The latest that is known of a key at the places where it was before, and its name there. That need not be the
    /// place from which the value was brought: the device may not have synced in the releases between.
    private func lastFormerState(
        of address: String, _ origin: SyncOrigin
    ) throws(StorageError) -> (name: String, state: SyncEntry.State)? {
        var last: (name: String, state: SyncEntry.State)?
        for address in replica.formerAddresses(of: address) + [origin.address] {
            let name = try name(of: address)
            guard let state = entries[name]?.state, last.map({ $0.state.version < state.version }) ?? true else {
                continue
            }
            last = (name, state)
        }
        return last
    }

    /// The removal that a key's absent value is due to, if the value had moved on and was removed there: that is known
    /// already, or was and is forgotten, and is no later than it was. What others have set since wins.
    func removalElsewhere(of name: String, _ entry: SyncEntry) -> SyncEntry.State? {
        guard let own = entry.state else { return nil }
        let former = keys.formerNames.filter { $0.name == name }.compactMap { entries[$0.former]?.state }
        var removal: SyncEntry.State
        if let latest = former.max(by: { $0.version < $1.version }), own.version < latest.version {
            guard latest.hash == nil else { return nil }
            removal = latest
            removal.history.add(own.history)
        } else {
            guard let passed = entry.passed, own.version < passed else { return nil }
            removal = SyncEntry.State(version: passed, history: own.history, hash: nil)
            removal.history.add(passed)
        }
        return removal
    }

    /// Notes that values were removed where their keys were before the app was updated, unless they expired there.
    func noticeFormerRemovals() throws(StorageError) {
        guard !progress.isJoining else { return }
        for (name, key) in keys.all {
            guard let origin = replica.origin(of: key.address), origin.digest == nil, entries[name]?.state == nil,
                try replica.read(key.address) == nil
            else { continue }
            guard let (former, state) = try lastFormerState(of: key.address, origin), var entry = entries[former],
                entry.passed.map({ $0 < state.version }) ?? true, !state.hasExpired(by: clock.now)
            else { continue }
            // What others have done there since counts: it has come to the key's new place, or comes now.
            if entry.isParked, let later = try parkedVersion(former), state.version < later.version { continue }
            var removal = state
            if state.hash != nil {
                let time = clock.time(ofChangeAt: nil, after: state.version.time)
                let version = SyncVersion(time: time, author: group.me)
                removal = SyncEntry.State(version: version, history: state.history, hash: nil)
                removal.history.add(version)
            }
            entry.state = removal
            var moved = entries[name] ?? SyncEntry(address: key.address)
            moved.state = removal
            // Both at once, or the next process would find another removal.
            try commit([SyncChange(name: former, entry: entry), SyncChange(name: name, entry: moved)])
        }
    }

    /// Notes which of the values that devices with earlier releases have published under keys' former names are older
    /// than what is known of the keys: no migration brings them, also when a removal is forgotten.
    func passSources() throws(StorageError) {
        guard !progress.isJoining else { return }
        for (name, source) in keys.sourceNames where parking.parked.contains(source) {
            guard let state = entries[name]?.state, var entry = entries[source], let remote = try parkedVersion(source),
                remote.version < state.version, entry.passed.map({ $0 < remote.version }) ?? true
            else { continue }
            entry.passed = state.version
            try commit([SyncChange(name: source, entry: entry)])
        }
    }

    /// Takes over what devices with other releases of the app have published at keys' other addresses. It stays kept
    /// aside, too, for a release that has a key there.
    func takeFormer() throws(StorageError) {
        guard !progress.isJoining else { return }
        for (name, former) in keys.formerNames where parking.parked.contains(former) {
            guard let key = keys[name], var entry = entries[former], let remote = try parkedVersion(former),
                entry.passed.map({ $0 < remote.version }) ?? true
            else { continue }
            let local = try current(name, key.address)
            guard !local.entry.isHeld else { continue }
            if let state = local.entry.state, remote.version < state.version {
                // A removal is forgotten when all have it, and would not keep this from counting then.
                entry.passed = state.version
                try commit([SyncChange(name: former, entry: entry)])
                continue
            }
            guard remote.value.map({ replica.canUse($0.data, $0.attributes, at: key.address) }) ?? true,
                remote.value != nil || local.value != nil,
                local.entry.state.map({ $0.version != remote.version && !$0.history.includes(remote.version) }) ?? true
            else { continue }
            var change = try merge(kept(remote, at: key.address), into: local, name: name)
            if case .remove = change.value {
                change = hold(remote, local, name: name)
            } else {
                try endParking(before: remote, &change)
            }
            try commit([change])
        }
    }
}
