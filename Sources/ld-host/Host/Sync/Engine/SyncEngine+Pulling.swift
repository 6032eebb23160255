internal import FoundationEssentials
package import LocalDataAPI

extension SyncEngine {
    static let statusName = "status"

    /// Takes in what was published since the last pull.
    package func pull() throws(StorageError) {
        pulled = Pull()
        try takeInAll()
        if isRestored {
            try progress.isJoining ? doubtOwnValues() : beginAgain()
            // Before it publishes that it joins, which replaces the status that says which of its own records count.
            try takeInAll()
        }
        if peers.isUnknownToOne {
            peers.isUnknownToOne = false
            try group.publishAgain()
        }
        // The group's log may come after the first records of a device that has just joined.
        counts.foreign += pulled.strangers.count { !group.isKnown($0) }
    }

    private func takeInAll() throws(StorageError) {
        try followGroup()
        pulled.ghosts = [:]
        if progress.position == nil {
            pulled.seen = []
            group.beginReading()
        }
        // Saved at the end of a pull from the beginning only, since what was not seen counts then.
        var position = progress.position
        var isMore = true
        while isMore {
            let (page, next): ([SyncRecord], Data?)
            do throws(StorageError) {
                (page, next, isMore) = try nextPage(after: position)
            } catch {
                guard error.code == .positionLost, position != nil else { throw error }
                try startOver()
                (pulled.seen, position) = ([], nil)
                group.beginReading()
                continue
            }
            try take(page, upTo: pulled.seen == nil ? next : nil)
            position = next
        }
        try withdrawGhosts()
        if let all = pulled.seen {
            try forgetUnseen(all)
            try group.endReading()
            pulled.seen = nil
            // A new device does not acknowledge yet, so others may remove what it has seen.
            // What was passed over is read again as soon as more is known of the group.
            progress.position = progress.isJoining && !isConsistent ? nil : position
            try saveProgress()
        } else if isStuck() || isMissed() || peers.isStuck(lackingGroup: group.lacksRecords) {
            try startOver()
        }
        guard !isRestored else { return }
        try takeFormer()
        try passSources()
        try makeHeldRemovals()
        try followGroup()
    }

    /// Whether the next pull begins at the beginning, since this device lacks records, or has some that are gone, and
    /// nothing has come that changed that: after 1, 2, 4, 8 and so on pulls.
    private func isStuck() -> Bool {
        var now: [DeviceID: SyncDigest] = [:]
        // Also if what is missing is a status that was here before.
        for writer in others where progress.writers[writer]?.statusCounter ?? 0 > 0 && !isComplete(writer) {
            now[writer] = table.digest(of: writer)
        }
        return peers.isStuck(with: now)
    }

    /// Whether the next pull begins at the beginning, since another member has this device's latest status, and has
    /// said that it lacks records: the transport may have lost them. A process answers each such status once.
    private func isMissed() -> Bool {
        guard !progress.isJoining, let own = progress.writers[group.me], own.statusCounter == progress.statusCounter,
            let counter = own.status?.counter
        else { return false }
        var isNew = false
        for writer in others {
            guard let status = progress.writers[writer]?.status, !status.isJoining,
                let known = status.known[group.me], known.status == own.statusCounter, known.taken < counter
            else { continue }
            if peers.answer(writer, known) { isNew = true }
        }
        return isNew
    }

    /// The next records of values. Those about the group are taken in: what follows is read as the group is now.
    func nextPage(
        after position: Data?
    ) throws(StorageError) -> (records: [SyncRecord], position: Data?, isMore: Bool) {
        var records: [SyncRecord] = []
        var bytes = 0
        let next = try carrier.fetch(since: position) { record in
            records.append(record)
            bytes += record.content.count
            return records.count < limits.page && bytes < limits.pageBytes
        }
        let isMore = records.count >= limits.page || bytes >= limits.pageBytes
        var values: [SyncRecord] = []
        for record in records where try !group.take(record) { values.append(record) }
        try group.settle()
        return (values, next, isMore)
    }

    /// Lets the next pull read all that the transport has. What it has lost of this device's is published again.
    package func startOver() throws(StorageError) {
        progress.position = nil
        try saveProgress()
    }

    /// Forgets the records that a pull from the beginning has not found: the transport lost them, and who published
    /// them publishes them again.
    private func forgetUnseen(_ seen: Set<Pull.SeenRecord>) throws(StorageError) {
        var changes: [SyncChange] = []
        for (name, entry) in entries {
            let gone = entry.published.keys.filter { !seen.contains(Pull.SeenRecord(writer: $0, name: name)) }
            guard !gone.isEmpty else { continue }
            var entry = entry
            for writer in gone {
                // It may come again as it was, if it is only late. An own one others may know: it is replaced.
                entry.lost[writer] = entry.published[writer]?.counter
                entry.published[writer] = nil
            }
            changes.append(SyncChange(name: name, entry: entry))
        }
        try commit(changes)
        for writer in progress.writers.keys where !seen.contains(Pull.SeenRecord(writer: writer, name: Self.statusName))
        {
            if writer != group.me { try table.forgetEnd(of: writer, upTo: ended(by: writer), entries, group) }
            progress.writers[writer]?.status = nil
        }
        if !seen.contains(Pull.SeenRecord(writer: group.me, name: Self.statusName)) { outbox.lastStatus = nil }
    }

    /// Takes over changes of the group: new members, devices that were removed, and a new epoch.
    func followGroup() throws(StorageError) {
        guard !isGroupKnown else { return }
        if progress.hasPassedOver { (progress.position, progress.hasPassedOver) = (nil, false) }
        let isOutdated = progress.epoch != 0 && progress.epoch != group.epoch
        if isOutdated {
            progress.outdated = progress.counter
            progress.position = nil
        }
        let removed = Set(peers.knownMembers).subtracting(group.members)
        (peers.knownMembers, progress.epoch, peers.knownKeyCount) = (group.members, group.epoch, group.keyCount)
        for writer in removed { progress.writers[writer] = nil }
        if removed.contains(group.me) { noteForgotten() }
        try saveProgress()
        var changes: [SyncChange] = []
        for (name, entry) in entries {
            guard !removed.isDisjoint(with: entry.published.keys) || !removed.isDisjoint(with: entry.lost.keys) else {
                continue
            }
            var entry = entry
            for writer in removed { (entry.published[writer], entry.lost[writer]) = (nil, nil) }
            changes.append(SyncChange(name: name, entry: entry))
        }
        try commit(changes)
        outbox.lastStatus = nil
        entries.keys.forEach(refreshDuty)
    }
}

extension SyncEngine {
    /// Whether the group is still as it was when it was last followed.
    var isGroupKnown: Bool { group.members == peers.knownMembers && progress.epoch == group.epoch && !canOpenMore }

    /// Whether keys have come since records were passed over.
    private var canOpenMore: Bool { progress.hasPassedOver && group.keyCount != peers.knownKeyCount }

    /// Takes in a page.
    ///
    /// - Parameter position: Where the next fetch begins then, saved with what the page changes; `nil` to leave it.
    private func take(_ page: [SyncRecord], upTo position: Data?) throws(StorageError) {
        var batch: [(change: SyncChange, writer: DeviceID, content: SyncContent)] = []
        var names: Set<String> = []
        func flush(upTo position: Data? = nil) throws(StorageError) {
            for _ in 0..<Self.attempts {
                var next = progress
                next.position = position
                let refused = try commit(batch.map(\.change), with: position == nil ? nil : next)
                let again = batch.filter { refused.contains($0.change.name) }
                (batch, names) = ([], [])
                if again.isEmpty { return }
                // Their values changed at this moment: what is there now is compared with the records.
                for (old, writer, content) in again {
                    guard let change = try change(by: content, of: writer, name: old.name) else { continue }
                    batch.append((change, writer, content))
                }
            }
            throw StorageError(.busy, "values changed again and again while sync changed them", hint: "try again")
        }
        for record in page {
            guard let (writer, content) = try opened(record) else { continue }
            if case .status(let status) = content.body {
                try take(status, content.counter, of: writer)
                continue
            }
            if names.contains(record.name) { try flush() }
            guard let change = try change(by: content, of: writer, name: record.name) else { continue }
            batch.append((change, writer, content))
            names.insert(record.name)
        }
        if !batch.isEmpty { return try flush(upTo: position) }
        // Without changes, a process that begins can read the page again.
        if let position, position != progress.position { (progress.position, isProgressDue) = (position, true) }
    }

    /// How often a record is compared with a value that changes meanwhile.
    private static let attempts = 8

    /// The writer and content of a record; `nil` if it counts for nothing.
    func opened(_ record: SyncRecord) throws(StorageError) -> (DeviceID, SyncContent)? {
        guard let writer = DeviceID(text: record.writer) else {
            counts.foreign += 1
            return nil
        }
        guard group.members.contains(writer) else {
            if group.isKnown(writer) {
                counts.former += 1
            } else if !pulled.note(stranger: writer, atMost: limits.page) {
                counts.foreign += 1
            }
            (progress.hasPassedOver, isProgressDue) = (true, true)
            return nil
        }
        switch try group.open(record) {
        case .content(let data):
            guard let content = SyncContent(data), try fits(content, record.name) else { break }
            return (writer, content)
        case .earlierEpoch:
            counts.outdated += 1
            return nil
        case .laterEpoch:
            (progress.hasPassedOver, isProgressDue) = (true, true)
            return nil
        case .forged: break
        }
        counts.forged += 1
        return nil
    }

    private func fits(_ content: SyncContent, _ name: String) throws(StorageError) -> Bool {
        switch content.body {
        case .status: name == Self.statusName
        case .release: name != Self.statusName
        case .value(_, _, let address, _, _), .removal(_, _, let address): try self.name(of: address) == name
        }
    }

    private func take(_ status: SyncStatus, _ counter: UInt64, of writer: DeviceID) throws(StorageError) {
        let known = progress.writers[writer]?.statusCounter ?? 0
        if counter >= known { pulled.see(Self.statusName, of: writer) }
        guard counter > known || progress.writers[writer]?.status == nil && counter == known else { return }
        isProgressDue = true
        if writer == group.me {
            noticeOwn(counter)
            progress.writers[writer] = SyncProgress.Writer(status: status, statusCounter: counter)
            return try noticeOwnEnd(status.ended)
        }
        // A writer that was restored from an older image may not know any more what has ended.
        var status = status
        status.ended = max(status.ended, ended(by: writer))
        try table.end(of: writer, after: ended(by: writer), upTo: status.ended, entries, group)
        progress.writers[writer, default: SyncProgress.Writer()].status = status
        progress.writers[writer]?.statusCounter = counter
        // It may have been published before that member could know of this device; but then that costs little.
        if !status.isJoining, !progress.isJoining, status.known[group.me] == nil { peers.isUnknownToOne = true }
        if let known = status.known[group.me] {
            noticeOwn(known.taken)
            noticeOwn(known.status)
        }
    }

    /// The change that a record of a key leads to; `nil` for none.
    private func change(by content: SyncContent, of writer: DeviceID, name: String) throws(StorageError) -> SyncChange?
    {
        let known = entries[name]?.published[writer]
        if writer == group.me { noticeOwn(content.counter) }
        // An earlier one that a transport gives again does not show that the known one is still there; but an own one
        // that is known may be on its way.
        let isKnown = known?.counter == content.counter
        let isOnItsWay = writer == group.me && known?.counter ?? 0 > progress.confirmed
        let lost = entries[name]?.lost[writer] ?? 0
        let isNew =
            content.counter > known?.counter ?? 0 && content.counter >= lost
            && (content.counter == lost || content.counter > taken(of: writer))
        if isKnown || isNew || isOnItsWay { pulled.see(name, of: writer) }
        let said = RemoteVersion.of(content)
        let isBack = isKnown && pulled.seen != nil && said.map { hasExpiredTooEarly($0.0, name) } ?? false
        guard isNew || isBack else {
            if !isKnown { counts.replayed += 1 }
            if writer == group.me, known == nil { note(ghost: content, name: name) }
            return nil
        }
        if let said { clock.observe(said.0.version.time) }
        if let (remote, address) = said, writer != group.me || isBack {
            return try change(by: remote, content, address, of: writer, name: name)
        }
        // Of an own record only that it is there; see ``takeOwn()``.
        var entry = entries[name] ?? SyncEntry(address: said?.address ?? "")
        let version = said?.0.version ?? known?.version ?? SyncVersion(time: 0, author: writer)
        let kind: SyncEntry.Kind = said.map { $0.0.value == nil ? .removal : .value } ?? .release
        entry.published[writer] = SyncEntry.Published(counter: content.counter, kind: kind, version: version)
        entry.lost[writer] = nil
        return SyncChange(name: name, entry: entry)
    }

    /// Whether a version has expired here that has not by what the clock says now: it was ahead for some time.
    private func hasExpiredTooEarly(_ remote: RemoteVersion, _ name: String) -> Bool {
        guard let state = entries[name]?.state, state.hash == nil, state.version == remote.version,
            let expires = remote.value?.attributes.expires
        else { return false }
        return expires > 0 && UInt64(expires) / 1_000_000 > clock.now
    }

    func change(
        by remote: RemoteVersion, _ content: SyncContent, _ address: String, of writer: DeviceID, name: String
    ) throws(StorageError) -> SyncChange {
        var local = try current(name, address)
        local.entry.address = address
        local.entry.published[writer] = SyncEntry.Published(
            counter: content.counter, kind: remote.value == nil ? .removal : .value, version: remote.version)
        local.entry.lost[writer] = nil
        if local.entry.isHeld {
            guard let pending = local.entry.pending, remote.version > pending.version else {
                return SyncChange(name: name, entry: local.entry)
            }
            (local.entry.pending, local.entry.isHeld) = (nil, false)
        }
        guard keys[name] != nil, remote.value.map({ replica.canUse($0.data, $0.attributes, at: address) }) ?? true
        else {
            return try park(remote, content, local, name: name)
        }
        var change = try merge(kept(remote, at: address), into: local, name: name)
        if case .remove = change.value { return hold(remote, local, name: name) }
        try endParking(before: remote, &change)
        return change
    }

    /// A version as this device's store keeps it. Otherwise what the store leaves out would count as a change.
    func kept(_ remote: RemoteVersion, at address: String) -> RemoteVersion {
        guard let value = remote.value else { return remote }
        return RemoteVersion(
            version: remote.version, history: remote.history,
            value: (value.data, replica.kept(value.attributes, at: address)))
    }

    /// The counter up to which all that a writer has published is here; what comes later with a lower one is a replay.
    private func taken(of writer: DeviceID) -> UInt64 {
        if progress.isJoining || isRestored { return 0 }
        return writer == group.me ? progress.counter : progress.writers[writer]?.taken ?? 0
    }

    /// What has ended stays so, also for a device that was restored from an older image.
    private func noticeOwnEnd(_ counter: UInt64) throws(StorageError) {
        guard counter > progress.ended else { return }
        try table.end(of: group.me, after: progress.ended, upTo: counter, entries, group)
        progress.ended = counter
    }

    private func noticeOwn(_ counter: UInt64) {
        if isForgotten(counter) {
            isRestored = true
            progress.forgotten = max(progress.forgotten, counter)
        }
        counters.observe(counter)
    }
}
