internal import FoundationEssentials
internal import HostGround
package import LocalDataAPI

extension SyncEngine {
    /// What a device has to publish for a key.
    enum Duty {
        case none
        /// The version that it holds.
        case publish
        /// That another device's record says more than its own.
        case release
        /// Its latest record once more: nobody knows whether it arrived, or it was sealed under an earlier epoch.
        case again
    }

    /// What is due for a key.
    struct Due {
        let duty: Duty
        /// Whether nobody publishes a version that others may lack.
        let isOrphan: Bool
        /// Whether nobody publishes its removal, which another device has made.
        let isUnpublishedRemoval: Bool
    }

    /// Finds out what is due for a key.
    func refreshDuty(of name: String) {
        let entry = entries[name]
        let due = Due(
            duty: entry.map { duty(of: $0, name) } ?? .none, isOrphan: entry.map(isOrphan) ?? false,
            isUnpublishedRemoval: entry?.isUnpublishedRemoval(of: group.me) ?? false)
        parking.sort(name, entry)
        outbox.sort(name, entry, due)
    }

    func duty(of entry: SyncEntry, _ name: String) -> Duty {
        let own = entry.published[group.me]
        if isDoubtful(own, entry) { return .release }
        guard let state = entry.state, !entry.isParked else { return dutyOfOwn(entry) }
        let isOwn = own.map { $0.kind.isLive && $0.version == state.version } ?? false
        let holder = liveHolder(of: state.version, entry)
        if let own, own.kind.isLive, let holder, own.version != state.version || holder < group.me { return .release }
        if !isOwn, holder == nil, state.version.author == group.me || isLeftToUs(entry, state), mayPublish(entry, name)
        {
            return .publish
        }
        return dutyOfOwn(entry)
    }

    /// What is due for the sake of an own record alone.
    private func dutyOfOwn(_ entry: SyncEntry) -> Duty {
        if entry.published[group.me] == nil, entry.lost[group.me] != nil { return .release }
        return ownIsOutdated(entry) ? .again : .none
    }

    /// Whether an own record has a value that this device did not take back; see ``takeOwn()``.
    private func isDoubtful(_ own: SyncEntry.Published?, _ entry: SyncEntry) -> Bool {
        guard let own, own.kind == .value, entry.pending == nil, !entry.isParked else { return false }
        return entry.state.map { $0.version < own.version } ?? true
    }

    private func ownIsOutdated(_ entry: SyncEntry) -> Bool {
        guard let own = entry.published[group.me], !own.hasEnded(progress.ended) else { return false }
        return own.counter > progress.confirmed || own.counter <= progress.outdated
    }

    /// Another member that publishes a version, the first in the order of ids.
    private func liveHolder(of version: SyncVersion, _ entry: SyncEntry) -> DeviceID? {
        var first: DeviceID?
        for (writer, record) in entry.published
        where record.kind.isLive && record.version == version && writer != group.me {
            first = min(first ?? writer, writer)
        }
        return first
    }

    /// Whether a version of another device has to be published by this one: its author is not in the group any more, or
    /// does not have it.
    private func isLeftToUs(_ entry: SyncEntry, _ state: SyncEntry.State) -> Bool {
        isOrphan(entry) && (!group.members.contains(state.version.author) || isConsistent)
    }

    /// Whether nobody publishes a version that others may lack.
    private func isOrphan(_ entry: SyncEntry) -> Bool {
        guard let state = entry.state, state.version.author != group.me,
            !entry.published.values.contains(where: { $0.kind.isLive && $0.version == state.version })
        else { return false }
        return state.hash != nil
            || entry.published.values.contains { $0.kind == .value && $0.version < state.version }
    }

    private func mayPublish(_ entry: SyncEntry, _ name: String) -> Bool {
        guard let key = keys[name] else { return false }
        switch key.policy {
        case .never: return false
        case .manual: return entry.isRequested || entry.state?.version.author != group.me
        case .automaticSmall: return true
        }
    }
}

extension SyncEngine {
    /// Gives a new version to each value that has changed here, and publishes it: both with one change of its entry.
    ///
    /// To others, this looks as if what the next pull finds had arrived later.
    ///
    /// - Returns: Whether it was done. It was not if the next pull may find that this device has to begin again, or if
    ///   the transport may be out of reach: then a change gets its version at once.
    package func publishChanges() throws(StorageError) -> Bool {
        guard isInTouch, !progress.isJoining, progress.position != nil, isGroupKnown else { return false }
        isInTouch = false
        try push(try localChanges.find(in: keys, entries, replica))
        // Others may take this, and remove it, before this device hears that it was forgotten.
        outbox.publishedAsMember = progress.confirmed
        localChanges.clear()
        isInTouch = true
        return true
    }

    /// Publishes what is due.
    ///
    /// - Parameter changed: Keys whose value may have changed here.
    func push(_ changed: Set<String> = []) throws(StorageError) {
        guard !progress.isJoining else { return }
        if isConsistent { outbox.orphans.forEach(refreshDuty) }
        // Records whose fate is unknown go first: what is confirmed is all up to one counter.
        let unconfirmed = outbox.duties.filter { (entries[$0]?.published[group.me]?.counter ?? 0) > progress.confirmed }
            .sorted { counter($0) < counter($1) }
        try publish(unconfirmed[...])
        let rest = outbox.pending.union(changed).sorted()
        try publish(rest[...])
    }

    private func counter(_ name: String) -> UInt64 { entries[name]?.published[group.me]?.counter ?? 0 }

    private func publish(_ names: ArraySlice<String>) throws(StorageError) {
        var names = names
        while !names.isEmpty {
            var (changes, contents, bytes) = ([SyncChange](), [(name: String, content: SyncContent)](), 0)
            while let name = names.first, changes.count < 512, contents.count < 512, bytes < 4 << 20 {
                names = names.dropFirst()
                let (change, content) = try record(of: name)
                if let change { changes.append(change) }
                guard let content else { continue }
                contents.append((name, content))
                if case .value(_, _, _, _, let data) = content.body { bytes += data.count }
            }
            try publish(contents, after: changes, isLast: names.isEmpty)
        }
    }

    /// Stores the counters, and only then publishes the records: a counter never comes with another content.
    ///
    /// - Parameter isLast: Whether this is the last that is due, so that the status can follow at once.
    private func publish(
        _ contents: [(name: String, content: SyncContent)], after changes: [SyncChange], isLast: Bool
    ) throws(StorageError) {
        guard !contents.isEmpty else {
            try commit(changes)
            return
        }
        let names = Set(contents.map(\.name))
        let reports = isLast && outbox.duties.allSatisfy { names.contains($0) || counter($0) <= progress.confirmed }
        // It adds a gap to the progress.
        let statusCounter = reports ? try nextCounter() : 0
        var next = progress
        next.statusCounter = statusCounter
        try commit(changes, with: reports ? next : nil)
        let confirmed = max(progress.confirmed, contents.map(\.content.counter).max() ?? 0)
        let status = status(confirmed: confirmed)
        let all = contents + (reports ? [(Self.statusName, content(of: status))] : [])
        let plain = all.map { (name: $0.name, content: $0.content.encoded()) }
        let sealed = try group.seal(plain)
        try carrier.publish(
            zip(plain, sealed).map { SyncRecord(writer: group.me.text, name: $0.name, content: $1) })
        if reports { outbox.lastStatus = status }
        // Until it is saved, a process that begins publishes the same records again.
        (progress.confirmed, isProgressDue) = (confirmed, true)
        for name in names { refreshDuty(of: name) }
    }

    /// The record that is due for a key, and the change of its entry that has to be stored before.
    private func record(of name: String) throws(StorageError) -> (SyncChange?, SyncContent?) {
        guard let address = entries[name]?.address ?? keys[name]?.address else { return (nil, nil) }
        let local = try current(name, address)
        var entry = local.entry
        let duty = duty(of: entry, name)
        let own = entry.published[group.me]
        let change = local.isChanged ? SyncChange(name: name, entry: entry) : nil
        guard duty != .none else { return (change, nil) }
        let isSame = own.map { $0.kind == .release || $0.version == entry.state?.version } ?? false
        if duty == .again, isSame, let own, own.counter > progress.confirmed, own.counter > progress.outdated,
            !local.isChanged, let content = content(own.counter, own.kind, entry, local.value)
        {
            return (nil, content)
        }
        let kind: SyncEntry.Kind
        switch duty {
        case .release: kind = .release
        // A value that has expired is published no more.
        case .again: kind = own?.kind == .value && entry.state?.hash == nil ? .removal : own?.kind ?? .release
        default: kind = entry.state?.hash == nil ? .removal : .value
        }
        guard var content = content(0, kind, entry, local.value) else { return (change, nil) }
        if case .value(_, _, _, let attributes, let data) = content.body, isTooLarge(data, attributes, name) {
            outbox.tooLarge.insert(name)
            return (change, nil)
        }
        outbox.tooLarge.remove(name)
        progress.counter = try nextCounter()
        content.counter = progress.counter
        if kind != .release { entry.state?.isShared = true }
        entry.lost[group.me] = nil
        let version = kind == .release ? own?.version : entry.state?.version
        entry.published[group.me] = SyncEntry.Published(
            counter: progress.counter, kind: kind, version: version ?? SyncVersion(time: 0, author: group.me))
        return (SyncChange(name: name, entry: entry), content)
    }

    private func content(
        _ counter: UInt64, _ kind: SyncEntry.Kind, _ entry: SyncEntry, _ value: LocalValue?
    ) -> SyncContent? {
        switch kind {
        case .release: return SyncContent(counter: counter, .release)
        case .removal:
            guard let state = entry.state else { return nil }
            return SyncContent(counter: counter, .removal(state.version, state.history, address: entry.address))
        case .value:
            guard let state = entry.state, let value else { return nil }
            return SyncContent(
                counter: counter,
                .value(state.version, state.history, address: entry.address, value.attributes, value.data))
        }
    }

    /// Finds the values that are due and too large, without publishing anything.
    package func findTooLarge() throws(StorageError) {
        for name in outbox.duties {
            guard let entry = entries[name], duty(of: entry, name) == .publish,
                let value = try replica.read(entry.address), isTooLarge(value.data, value.attributes, name)
            else { continue }
            outbox.tooLarge.insert(name)
        }
    }

    private func isTooLarge(_ data: Data, _ attributes: ValueAttributes, _ name: String) -> Bool {
        let texts = attributes.texts.map(\.utf8.count)
        let size = data.count + Self.overhead + max(0, texts.reduce(-Self.textRoom, +))
        return size > carrier.largestRecord || texts.contains { $0 > SyncContent.longestText }
            || keys[name]?.policy == .automaticSmall && data.count > limits.automatic
    }
}
