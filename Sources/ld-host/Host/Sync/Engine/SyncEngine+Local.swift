internal import FoundationEssentials
internal import HostGround
package import LocalDataAPI

/// What is known of a key, with the value that the store has now.
struct LocalState {
    var entry: SyncEntry
    let value: LocalValue?
    /// Whether the value is not the one that the entry knew.
    let isChanged: Bool
}

extension SyncEngine {
    /// Gives a new version to each value that has changed here.
    package func observe() throws(StorageError) {
        var changes: [SyncChange] = []
        for name in try localChanges.find(in: keys, entries, replica).sorted() {
            guard let key = keys[name] else { continue }
            let local = try current(name, key.address)
            if local.isChanged { changes.append(SyncChange(name: name, entry: local.entry)) }
            if changes.count >= 256 {
                try commit(changes)
                changes = []
            }
        }
        try commit(changes)
        localChanges.clear()
    }

    /// Compares a key's value with what is known of it.
    func current(_ name: String, _ address: String) throws(StorageError) -> LocalState {
        var entry = entries[name] ?? SyncEntry(address: address)
        // A release does not say which key it is about.
        if entry.address.isEmpty { entry.address = address }
        guard keys[name] != nil else { return LocalState(entry: entry, value: nil, isChanged: false) }
        let isAbsent = localChanges.takeAbsence(of: name)
        let value = isAbsent ? nil : try replica.read(address)
        let hash = try value.map { (value) throws(StorageError) in try group.hash(of: value.data, value.attributes) }
        if let pending = entry.pending, !entry.isHeld {
            // The process ended before the entry was stored, and maybe before the value was. A version whose record was
            // not taken in yet comes again with it; a removal was held, and its record counts as taken in.
            if pending.hash == hash {
                let known = isWeak(entry) ? nil : entry.state?.history
                (entry.state, entry.pending) = (pending, nil)
                if let known { entry.state?.history.add(known) }
            } else if pending.hash == nil {
                entry.isHeld = true
            } else {
                entry.pending = nil
            }
        }
        guard hash != entry.state?.hash else {
            if hash == entries[name]?.state?.hash { localChanges.marks[name] = value?.mark }
            return LocalState(entry: entry, value: value, isChanged: entry != entries[name] && entries[name] != nil)
        }
        if value == nil, entry.state?.hasExpired(by: clock.now) == true {
            // An expiry is no removal. The version stays as it was, so a value that another device has renewed wins,
            // and a device with a wrong clock removes the value from no other one.
            entry.state?.hash = nil
            entry.state?.expires = nil
            return LocalState(entry: entry, value: nil, isChanged: true)
        }
        if let value, let hash, let moved = try stateBefore(move: hash, to: address, value, entry) {
            (entry.state, entry.isRequested, entry.isFormer) = (moved, false, false)
            return LocalState(entry: entry, value: value, isChanged: true)
        }
        if value == nil, let removal = removalElsewhere(of: name, entry) {
            (entry.state, entry.isRequested, entry.isFormer) = (removal, false, false)
            return LocalState(entry: entry, value: nil, isChanged: true)
        }
        let version = SyncVersion(time: try timeOfChange(to: value, in: entry, name), author: group.me)
        var history = entry.state?.history ?? SyncHistory()
        history.add(version)
        entry.state = SyncEntry.State(
            version: version, history: history, hash: hash, expires: value?.attributes.expires)
        entry.isRequested = false
        entry.isFormer = false
        entry.changed = counters.tick()
        localChanges.edited.insert(name)
        return LocalState(entry: entry, value: value, isChanged: true)
    }

    /// The time of a change that was found here: when its value was written, but later than what this device knew of
    /// the key, and than all that it knew when it last saved how far sync has come. It may have known a removal of the
    /// key that is forgotten here, and that others still know. The time of a removal is now.
    private func timeOfChange(to value: LocalValue?, in entry: SyncEntry, _ name: String) throws(StorageError) -> UInt64
    {
        // What a new device had before it joined counts less than everything in the group.
        if progress.isJoining, entry.state == nil, entries[name]?.pending == nil {
            return clock.timeBefore(writtenAt: value?.written)
        }
        let versions = [entry.state?.version, entry.pending?.version] + entry.published.values.map(\.version)
        let known = versions.compactMap { $0?.time }.max() ?? 0
        // What a migration has brought is no later than what it was made of, whenever the device was updated.
        let source = value == nil || entry.state != nil ? nil : try replica.sourceWritten(entry.address)
        return clock.time(ofChangeAt: source ?? value?.written, after: max(known, progress.time))
    }

    /// Brings values to the current version of their types, once after the app was updated. That is no change of what
    /// they say: it comes just after the version that is converted, so that whatever any device has set since wins.
    func upgradeValues() throws(StorageError) {
        guard mayUpgrade, !progress.isJoining else { return }
        for (name, key) in keys.all where key.hasVersions && !localChanges.absent.contains(name) {
            let local = try current(name, key.address)
            guard let value = local.value, let state = local.entry.state, local.entry.pending == nil,
                let upgraded = try replica.upgraded(value, at: key.address)
            else { continue }
            var entry = local.entry
            let version = SyncVersion(time: min(state.version.time + 1, HybridClock.latest), author: group.me)
            var history = state.history
            history.add(version)
            // If the process ends before the new entry is stored, the next one knows the value by this.
            entry.pending = SyncEntry.State(
                version: version, history: history, hash: try group.hash(of: upgraded.data, upgraded.attributes),
                expires: upgraded.attributes.expires)
            try commit([SyncChange(name: name, entry: entry)])
            try replica.upgrade(key.address, from: value, to: upgraded)
            let now = try current(name, key.address)
            try commit([SyncChange(name: name, entry: now.entry)])
        }
        mayUpgrade = false
    }

    /// Asks to publish the value of a manual key.
    ///
    /// - Throws: `dataTooLargeForSync` if the transport cannot carry it.
    package func request(_ address: String) throws(StorageError) {
        let name = try name(of: address)
        guard let key = keys[name], key.policy != .never else { throw Self.notShared(address) }
        var local = try current(name, address)
        if let value = local.value, value.data.count + Self.overhead > carrier.largestRecord {
            throw StorageError(
                .dataTooLargeForSync,
                "'\(address)' has \(value.data.count) bytes; the transport carries \(carrier.largestRecord - Self.overhead)",
                hint: "keep large values in a store that the devices share")
        }
        local.entry.isRequested = true
        try commit([SyncChange(name: name, entry: local.entry)])
    }

    /// What a record needs beside the value: at most 256 authors, an address and attributes.
    static let overhead = 16_384
    /// The part of it for the texts of the attributes.
    static let textRoom = 4096

    static func notShared(_ address: String) -> StorageError {
        StorageError(
            .unsupported, "'\(address)' does not take part in sync",
            hint: "give the key a sync policy, and register its catalog")
    }
}
