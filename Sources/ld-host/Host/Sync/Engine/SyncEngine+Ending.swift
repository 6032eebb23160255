internal import FoundationEssentials
package import LocalDataAPI

extension SyncEngine {
    /// Whether the members' statuses are of one moment: nobody lacks a removal that another has ended.
    var isConsistent: Bool {
        let writers = others.map { ($0, progress.writers[$0]?.status) }
        return writers.allSatisfy { writer, status in
            guard let status, isComplete(writer), status.acknowledged.keys.allSatisfy(group.isKnown) else {
                return false
            }
            return status.isJoining
                || writers.allSatisfy { other, their in
                    other == writer || status.acknowledged[other] ?? 0 >= their?.ended ?? 0
                }
        }
    }

    /// Ends what every member has taken in, and ends joining once the group's values are here.
    func finish() throws(StorageError) {
        // Stored at the latest with what this device acknowledges by it.
        for writer in others where isComplete(writer) {
            guard let known = progress.writers[writer], let status = known.status else { continue }
            progress.writers[writer]?.taken = max(known.taken, status.counter)
        }
        try forgetLost()
        if progress.isJoining { try finishJoining() }
        try endOwn()
        for writer in others { try forgetEnded(of: writer) }
        if isConsistent { try forgetUnpublished() }
    }

    /// Forgets the lost records of writers whose records are all here, since what is not has ended, and those of former
    /// members. An own one is known until it is replaced.
    private func forgetLost() throws(StorageError) {
        let waiting = Set(group.members.filter { $0 == group.me || !isComplete($0) })
        var changes: [SyncChange] = []
        for name in outbox.lost.sorted() {
            guard var entry = entries[name], !waiting.isSuperset(of: entry.lost.keys) else { continue }
            entry.lost = entry.lost.filter { waiting.contains($0.key) }
            changes.append(SyncChange(name: name, entry: entry))
        }
        try commit(changes)
    }

    /// Forgets removals that nobody publishes, since nobody has the values any more.
    private func forgetUnpublished() throws(StorageError) {
        var changed: [String: SyncEntry] = [:]
        for name in outbox.unpublishedRemovals.sorted() {
            guard var entry = changed[name] ?? entries[name] else { continue }
            forgetRemoval(name, &entry, &changed)
            changed[name] = entry
        }
        try commit(changed)
    }

    /// Forgets a removal. At the key's former places it is known as what has passed there: what this device knew there,
    /// or others have published, is no later one.
    private func forgetRemoval(_ name: String, _ entry: inout SyncEntry, _ changed: inout [String: SyncEntry]) {
        guard let version = entry.state?.version else { return }
        entry.state = nil
        for (key, former) in keys.formerNames where key == name {
            guard var other = changed[former] ?? entries[former], other.passed.map({ $0 < version }) ?? true else {
                continue
            }
            other.passed = version
            if other.state?.version == version { other.state?.isShared = true }
            changed[former] = other
        }
    }

    private func commit(_ entries: [String: SyncEntry]) throws(StorageError) {
        try commit(entries.sorted { $0.key < $1.key }.map { SyncChange(name: $0.key, entry: $0.value) })
    }

    /// The counter up to which all members but the writer have acknowledged its records, as far as this device has
    /// taken in theirs.
    private func acknowledged(_ writer: DeviceID) -> UInt64 {
        var least = UInt64.max
        for member in group.members where member != writer {
            if member == group.me {
                least = min(least, acknowledgement(of: writer))
            } else {
                guard isComplete(member) else { return 0 }
                least = min(least, progress.writers[member]?.status?.acknowledged[writer] ?? 0)
            }
        }
        return least
    }

    private func endOwn() throws(StorageError) {
        let counter = min(acknowledged(group.me), progress.confirmed)
        let ended = table.ending(of: group.me, upTo: counter)
        guard !ended.isEmpty else { return }
        if counter > progress.ended {
            try table.end(of: group.me, after: progress.ended, upTo: counter, entries, group)
            progress.ended = counter
            try saveProgress()
        }
        try carrier.remove(ended.map(\.name), of: group.me.text)
        try forget(ended.map(\.name), of: group.me)
    }

    private func forgetEnded(of writer: DeviceID) throws(StorageError) {
        let counter = min(ended(by: writer), acknowledged(writer))
        try forget(table.ending(of: writer, upTo: counter).map(\.name), of: writer)
    }

    private func forget(_ names: [String], of writer: DeviceID) throws(StorageError) {
        var changed: [String: SyncEntry] = [:]
        for name in names {
            guard var entry = changed[name] ?? entries[name], let record = entry.published[writer] else { continue }
            entry.published[writer] = nil
            // With a value that somebody publishes later, the removal still has to be known.
            let isOver = !entry.published.values.contains { $0.kind == .value }
            if let state = entry.state, state.hash == nil, isOver, state.version <= record.version {
                forgetRemoval(name, &entry, &changed)
            }
            changed[name] = entry
        }
        try commit(changed)
    }

    /// A new device has what the group has. What it found and nobody publishes any more was removed meanwhile.
    private func finishJoining() throws(StorageError) {
        guard isConsistent, parking.held.isEmpty else { return }
        try takeOwn()
        guard parking.held.isEmpty else { return }
        for name in outbox.orphans.sorted() {
            // What others still publish an earlier value of was not removed; it is published from here. An own record
            // does not show that.
            guard let entry = entries[name], entry.state?.hash != nil,
                !entry.published.contains(where: { $0.key != group.me && $0.value.kind == .value })
            else { continue }
            let local = try current(name, entry.address)
            var change = SyncChange(name: name, entry: local.entry)
            if !local.isChanged { removeValue(local, &change) }
            try commit([change])
        }
        for name in entries.filter({ $0.value.isFormer }).keys.sorted() { try settleFormer(name) }
        (progress.isJoining, progress.forgotten) = (false, 0)
        try saveProgress()
        entries.keys.forEach(refreshDuty)
    }

    /// Removes a value that was here before the group forgot this device, and that the group does not have any more. A
    /// record that another one has replaced since may have shown it, too.
    private func settleFormer(_ name: String) throws(StorageError) {
        guard let entry = entries[name] else { return }
        let local = try current(name, entry.address)
        var change = SyncChange(name: name, entry: local.entry)
        change.entry?.isFormer = false
        let isThere = entry.published.contains { $0.key != group.me && $0.value.kind == .value }
        if !local.isChanged, let state = local.entry.state, !(state.isShared && isThere) {
            change.loser = local.value.map {
                SyncLoser(
                    address: entry.address, version: state.version, winner: nil, data: $0.data,
                    attributes: $0.attributes)
            }
            removeValue(local, &change)
        }
        try commit([change])
    }

    /// Lets a change remove a value that the group does not have any more, and forget its version.
    private func removeValue(_ local: LocalState, _ change: inout SyncChange) {
        change.entry?.state = nil
        guard local.value != nil, var gone = local.entry.state else { return }
        change.value = .remove
        change.expected = local.value
        gone.hash = nil
        noteIntent(of: &change, local, gone)
    }

    /// Begins again after the group has forgotten this device, or this device the group: what changed here since its
    /// last sync counts as a change.
    package func takeOverAgain() throws(StorageError) {
        try observe()
        for (name, entry) in entries where keys[name] != nil && !entry.isFormer {
            guard let state = entry.state, !state.isShared, state.version.author == group.me else { continue }
            localChanges.edited.insert(name)
        }
        try beginAgain()
    }

    /// Begins again since stores have less than this device has synced. What is in the others stays as it is.
    func takeOverAgain(_ outdated: OutdatedKeys) throws(StorageError) {
        var changes: [SyncChange] = []
        for (name, key) in keys.all {
            let isReturned = outdated.returned.contains(key.address)
            guard isReturned || outdated.rewritten.contains(key.address) else { continue }
            // Whatever another store's entry says: neither this value nor a missing one is a change.
            var entry = entries[name] ?? SyncEntry(address: key.address)
            let version = SyncVersion(time: clock.timeBefore(), author: group.me)
            let value = isReturned ? try replica.read(key.address) : nil
            entry.state = try value.map { (value) throws(StorageError) in
                SyncEntry.State(
                    version: version, history: SyncHistory([version]),
                    hash: try group.hash(of: value.data, value.attributes), expires: value.attributes.expires)
            }
            (entry.pending, entry.isHeld, entry.changed, entry.isFormer) = (nil, false, 0, value != nil)
            changes.append(SyncChange(name: name, entry: entry))
        }
        try commit(changes)
        try observe()
        let lacking = outdated.putBack.union(outdated.returned).union(outdated.rewritten)
        // A former value is one that an interrupted call has left.
        let whole = keys.all.filter { !lacking.contains($0.value.address) && entries[$0.key]?.isFormer == false }
        try beginAgain(keeping: Set(whole.keys))
    }

    /// Takes over the group's values as a new device does, since this one was restored from an older image: it has
    /// acknowledged what it does not know any more. What the group has wins, and what it does not have any more is kept
    /// as a lost value; only what changed since the device was restored counts as a change.
    ///
    /// - Parameter known: Keys of which this device has forgotten nothing but who publishes them.
    package func beginAgain(keeping known: Set<String> = []) throws(StorageError) {
        var changes: [SyncChange] = []
        for (name, entry) in entries {
            var next = SyncEntry(address: entry.address)
            next.isParked = entry.isParked
            if known.contains(name) {
                (next.state, next.isRequested, next.changed) = (entry.state, entry.isRequested, entry.changed)
                changes.append(SyncChange(name: name, entry: next))
                continue
            }
            let isOwn = entry.state?.version.author == group.me
            if isEdited(name), var state = entry.state, isOwn || entry.changed > 0 {
                if !state.isShared || !isOwn {
                    // Its version may have been another value's, before the device was restored. Or the device has
                    // joined again, as another one. A change in the image may be older than what the group has.
                    state.isShared = false
                    renew(&state, writtenAt: state.hash == nil ? nil : try replica.read(entry.address)?.written)
                }
                (next.state, next.changed) = (state, entry.changed)
            } else if let hash = entry.state?.hash {
                let version = SyncVersion(time: clock.timeBefore(), author: group.me)
                next.state = SyncEntry.State(
                    version: version, history: SyncHistory([version]), hash: hash, expires: entry.state?.expires)
                next.isFormer = true
            }
            changes.append(SyncChange(name: name, entry: next))
        }
        try commit(changes)
        let (ended, forgotten) = (progress.ended, progress.forgotten)
        progress = SyncProgress()
        (progress.ended, progress.forgotten) = (ended, forgotten)
        forgetGaps()
        (outbox.lastStatus, peers.knownMembers) = (nil, [])
        try saveProgress()
    }
}

extension SyncEngine {
    /// Gives all own records new counters from here on, and takes none of the past for forgotten any more.
    private func forgetGaps() {
        let now = counters.tick()
        (progress.counter, progress.confirmed, progress.outdated, progress.statusCounter) = (now, now, now, now)
        (progress.gaps, outbox.hasCounted) = ([], true)
    }

    /// What was here before this device joins may be older than it seems: the image that it was restored from was made
    /// while it joined.
    func doubtOwnValues() throws(StorageError) {
        var changes: [SyncChange] = []
        for (name, entry) in entries where !entry.isFormer && !isEdited(name) {
            guard let state = entry.state, state.hash != nil, !state.isShared, state.version.isFromBefore else {
                continue
            }
            var entry = entry
            entry.isFormer = true
            changes.append(SyncChange(name: name, entry: entry))
        }
        try commit(changes)
        forgetGaps()
        (progress.position, isRestored) = (nil, false)
        try saveProgress()
    }
}

// Statuses.
extension SyncEngine {
    /// The counter up to which this device acknowledges a writer's records. What waits here for consent, or for a
    /// record of its own to be released, is not acknowledged.
    func acknowledgement(of writer: DeviceID) -> UInt64 {
        let last = outbox.lastStatus?.acknowledged[writer] ?? 0
        guard isComplete(writer), parking.held.isEmpty, !hasReleases else { return last }
        return max(last, progress.writers[writer]?.status?.counter ?? 0)
    }

    private var hasReleases: Bool {
        outbox.duties.contains { name in entries[name].map { duty(of: $0, name) == .release } ?? false }
    }

    /// Publishes a status with the next step even if it says nothing new, so that others hear of this device.
    ///
    /// - Parameter milliseconds: Unless the last one is younger.
    package func renewStatus(after milliseconds: UInt64) {
        // Counters follow this device's clock; see ``HybridClock``.
        let age = (counters.now << 16).subtractingReportingOverflow(progress.statusCounter)
        if !age.overflow, age.partialValue >> 16 > milliseconds { outbox.lastStatus = nil }
    }

    /// The counters of the other members' latest statuses; 0 for none.
    package var statusCounters: [DeviceID: UInt64] {
        others.reduce(into: [:]) { $0[$1] = progress.writers[$1]?.statusCounter ?? 0 }
    }

    /// Publishes a status if others need to know more than the last one said.
    func reportStatus() throws(StorageError) {
        let status = status(confirmed: progress.confirmed)
        guard isNews(status) else { return }
        // It adds a gap to the progress.
        let statusCounter = try nextCounter()
        var next = progress
        next.statusCounter = statusCounter
        try commit([], with: next)
        let sealed = try group.seal(content(of: status).encoded(), name: Self.statusName)
        try carrier.publish([SyncRecord(writer: group.me.text, name: Self.statusName, content: sealed)])
        outbox.lastStatus = status
    }

    /// What this device reports once its records up to a counter are published.
    func status(confirmed: UInt64) -> SyncStatus {
        var status = SyncStatus()
        status.counter = confirmed
        status.ended = progress.ended
        status.waiting = table.lastEnding(of: group.me)
        status.isJoining = progress.isJoining
        status.records = table.digest(of: group.me)
        for writer in others {
            status.acknowledged[writer] = acknowledgement(of: writer)
            let known = progress.writers[writer] ?? SyncProgress.Writer()
            status.known[writer] = SyncStatus.Known(status: known.statusCounter, taken: known.taken)
        }
        return status
    }

    /// The content of a status's record, with the counter that was stored for it.
    func content(of status: SyncStatus) -> SyncContent {
        SyncContent(counter: progress.statusCounter, .status(status))
    }

    private func isNews(_ status: SyncStatus) -> Bool {
        guard let last = outbox.lastStatus else { return true }
        var same = status
        (same.acknowledged, same.known) = (last.acknowledged, last.known)
        if same != last { return true }
        return others.contains { writer in
            // What does not arrive may be lost, which its writer can find out.
            if peers.vainPulls > 1, peers.incomplete[writer] != nil,
                last.known[writer]?.status != status.known[writer]?.status
            {
                return true
            }
            guard let their = progress.writers[writer]?.status else { return false }
            let (old, new) = (last.acknowledged[writer] ?? 0, status.acknowledged[writer] ?? 0)
            return new > old && (their.waiting > old || their.ended > old)
        }
    }
}
