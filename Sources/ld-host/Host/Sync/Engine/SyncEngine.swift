package import FoundationEssentials
internal import HostGround
package import LocalDataAPI

/// What carries the records, as the engine uses it: see ``SyncTransport``.
package protocol SyncCarrier: AnyObject {
    var largestRecord: Int { get }
    func publish(_ records: [SyncRecord]) throws(StorageError)
    func remove(_ names: [String], of writer: String) throws(StorageError)
    func fetch(since position: Data?, _ take: (SyncRecord) -> Bool) throws(StorageError) -> Data
}

/// What was refused, and what was kept aside.
package struct SyncCounts: Hashable, Sendable {
    /// Records that no member of the group has sealed, or that were changed.
    package var forged = 0
    /// Records of devices that never were members.
    package var foreign = 0
    /// Records of devices that are no members any more.
    package var former = 0
    /// Records that are older than what their writer had published.
    package var replayed = 0
    /// Records under an epoch that has ended.
    package var outdated = 0
    /// Values that lost against another version, and were kept.
    package var conflicts = 0
}

/// Makes the values of a group's devices converge.
///
/// Each device publishes, for each key whose newest version it made, one record, which only it replaces. All devices
/// take over the greatest version of each key. Nothing tells the engine of a change beforehand: it compares the hash of
/// a value with the one that it last synced.
///
/// - **Order of writes.** An entry with a new counter is stored before the record with that counter is published, and a
///   value is stored together with its entry. So a device that is killed at any point goes on where it was.
/// - **Removals** are records too. They end when every member has acknowledged them; a member does so after it has
///   released its own record of the key. So no device can bring a removed value back.
/// - **Completeness.** A writer's status has a digest of its records. A device acknowledges only what makes its own
///   digest equal, so it notices whatever a transport keeps back.
///
/// What it knows is in values, by how long it holds: ``SyncProgress`` and the entries are stored with each change;
/// ``Outbox`` and ``Parking`` follow from the entries, and ``WriterTable``, too; each process has ``LocalChanges`` and
/// ``Peers`` of its own, and each pull a ``Pull``.
///
/// The words that they use:
///
/// | word | meaning |
/// |---|---|
/// | entry | what this device knows of a key: its version, who has published which record, what waits |
/// | version, history | who changed a value when, and which versions it has replaced |
/// | counter | the number of a record of one writer; it only grows |
/// | duty | a record that this device has to publish: a version, a release, or its latest one again |
/// | release | a record in the place of an own one, which says that another device's record says more |
/// | orphan | a version that no member publishes: its writer left, or a transport lost the record |
/// | held | a removal that waits until a pull is complete, or for consent |
/// | parked | a version that this device's software cannot use yet |
/// | ghost | an own record on the transport that this device had replaced: a transport has given it again |
/// | stranger | the writer of a record who is no member, as far as is known here |
/// | vain pull | one after which a writer's records are still not what its status says |
/// | former | a value that was here before the device joined; what the group has wins |
/// | forgotten | the counter up to which this device, restored from an older image, knows less than others |
/// | gap | counters that were passed over, so that none is given out twice |
///
/// One thread at a time uses an engine. Every method may wait.
package final class SyncEngine {
    package struct Limits: Sendable {
        /// The most bytes of a value that is published on its own.
        package var automatic = 100_000
        /// A pull that removes more values than this, and more than half of all, waits for consent.
        package var removals = 20
        /// The most records of a page.
        package var page = 8192
        /// The most bytes of a page.
        package var pageBytes = 8 << 20

        package init() {}
    }

    let group: any SyncGroup
    let replica: any SyncReplica
    let carrier: any SyncCarrier
    let limits: Limits
    /// The times of versions, later than all that was seen of others.
    var clock: HybridClock
    /// The counters of records. They follow this device's own clock alone, which goes on while an older image of the
    /// device is put back.
    var counters: HybridClock
    /// What is known of each key, by the names of their records; see ``SyncReplica`` for how it is stored.
    var entries: [String: SyncEntry] = [:]
    /// How far sync has come; see ``SyncReplica`` for how it is stored.
    var progress = SyncProgress()
    /// Whether ``progress`` differs from what is saved in a way that the next process would find out by itself.
    package internal(set) var isProgressDue = false
    package let keys: SyncedKeys
    var table = WriterTable()
    var localChanges = LocalChanges()
    package var outbox = Outbox()
    var parking = Parking()
    var pulled = Pull()
    var peers = Peers()
    package internal(set) var counts = SyncCounts()
    /// Whether values may be of earlier versions of their types: the app may have been updated.
    var mayUpgrade = true
    /// Whether all has worked, the last time when this process pulled and published.
    var isInTouch = false
    /// Called with the addresses of values that sync has changed here.
    package var applied: ([String]) -> Void = { _ in }

    /// - Parameter now: Milliseconds since 1970 UTC.
    package init(
        group: any SyncGroup, replica: any SyncReplica, carrier: any SyncCarrier, limits: Limits = Limits(),
        now: @escaping @Sendable () -> UInt64
    ) throws(StorageError) {
        (self.group, self.replica, self.carrier, self.limits) = (group, replica, carrier, limits)
        (clock, counters) = (HybridClock(now: now), HybridClock(now: now))
        keys = try SyncedKeys(of: replica, group)
        try load()
    }

    /// Goes on as far as the transport can be reached: notices changes, takes in what others published, publishes what
    /// is due. What fails is tried again with the next call.
    ///
    /// - Parameter savesAll: Whether to save, too, what the next process would find out by itself. If not,
    ///   ``saveDue()`` has to follow in time.
    package func step(savesAll: Bool = true) throws(StorageError) {
        if try !publishChanges() { try observe() }
        isInTouch = false
        if parking.mayUseParked {
            try noticeFormerRemovals()
            try takeUsable()
        }
        do { try pull() } catch {
            // The next release of the app may not read the earlier versions any more.
            try upgradeValues()
            throw error
        }
        try upgradeValues()
        try push()
        try finish()
        try reportStatus()
        if group.members.contains(group.me) { outbox.publishedAsMember = progress.confirmed }
        if savesAll { try saveDue() }
        isInTouch = true
    }

    /// Saves how far sync has come, unless that is saved.
    package func saveDue() throws(StorageError) { if isProgressDue { try saveProgress() } }

    /// Whether all members' records are here, as far as they have said what they published.
    package var isComplete: Bool { others.allSatisfy(isComplete(_:)) }

    /// Whether the device still takes over what the group has.
    package var isJoining: Bool { progress.isJoining }

    /// The number of removals that wait for consent; 0 if none do.
    package var removalsToAccept: Int {
        guard parking.held.count > limits.removals,
            parking.held.count * 2 > entries.values.count(where: { $0.state?.hash != nil })
        else { return 0 }
        return parking.held.count
    }

    /// The number of keys with a record to publish.
    package var pendingCount: Int { outbox.duties.count }

    /// The addresses of values that are too large to be published.
    package var tooLargeAddresses: [String] { addresses(of: outbox.tooLarge.intersection(outbox.duties)) }

    /// The addresses of values that are kept aside.
    package var parkedAddresses: [String] { addresses(of: parking.parked) }

    private func addresses(of names: Set<String>) -> [String] { names.compactMap { keys[$0]?.address }.sorted() }

    /// Whether others know more of this device than it does: it was restored from an older image.
    var isRestored: Bool {
        get { progress.isRestored }
        set { progress.isRestored = newValue }
    }

    var others: [DeviceID] { group.members.filter { $0 != group.me } }

    package func isComplete(_ writer: DeviceID) -> Bool {
        guard let status = progress.writers[writer]?.status else { return false }
        return status.records == table.digest(of: writer)
    }

    /// The value of a key may have changed.
    package func noticeChange(of address: String) throws(StorageError) {
        let name = try name(of: address)
        localChanges.notice(name, takesPart: keys[name] != nil)
    }

    /// The value of every key may have changed.
    package func noticeAll() { localChanges.noticeAll() }

    /// The name of the records of an address.
    func name(of address: String) throws(StorageError) -> String {
        if let known = keys.name(of: address) { return known }
        return try group.name(of: address)
    }
}

extension SyncEngine {
    private func load() throws(StorageError) {
        if let saved = try replica.progress() {
            guard let decoded = SyncProgress(saved) else {
                throw SyncForm.error(
                    decoding: saved, known: SyncProgress.version,
                    "sync's record of its progress, '\(HostSettings.syncNamespace)/progress',",
                    ifDamaged:
                        "restore the store of the domain 'userDefaults' from a backup, or leave the group and join "
                        + "again")
            }
            progress = decoded
        }
        clock.observe(progress.time)
        outbox.publishedAsMember = progress.confirmed
        peers.knownMembers = group.members
        let outdated = try replica.outdated()
        try replica.forEachEntry { (name, entry) throws(StorageError) in
            for state in [entry.state, entry.pending] { if let state { clock.observe(state.version.time) } }
            progress.counter = max(progress.counter, entry.published[group.me]?.counter ?? 0)
            try index(entry, as: name)
        }
        // A gap was stored before the counter behind it: a process that ended in between has not given that one out.
        counters.observe(max(progress.lastCounter, progress.gaps.last?.upperBound ?? 0))
        guard let outdated, group.members.contains(group.me) else { return }
        progress.forgotten = max(progress.forgotten, progress.lastCounter)
        try takeOverAgain(outdated)
    }

    /// Replaces what is known of a key, and what follows from it.
    func index(_ entry: SyncEntry?, as name: String) throws(StorageError) {
        let old = entries[name]
        entries[name] = entry
        if entry?.state?.hash != old?.state?.hash { localChanges.marks[name] = nil }
        for (writer, record) in entry?.published ?? [:] {
            try table.replace(
                old?.published[writer], with: record, name: name, of: writer, ended: ended(by: writer), group)
        }
        for (writer, record) in old?.published ?? [:] where entry?.published[writer] == nil {
            try table.replace(record, with: nil, name: name, of: writer, ended: ended(by: writer), group)
        }
        refreshDuty(of: name)
    }

    /// The counter up to which a writer's removals and releases have ended.
    func ended(by writer: DeviceID) -> UInt64 {
        writer == group.me ? progress.ended : progress.writers[writer]?.status?.ended ?? 0
    }

    /// A counter for a record. Counters follow the clock, so that a device that was restored from an older image does
    /// not give one out twice.
    func nextCounter() throws(StorageError) -> UInt64 {
        let last = progress.lastCounter
        let counter = counters.tick()
        if !outbox.hasCounted {
            progress.addGap(after: last, before: counter)
            outbox.hasCounted = true
            try saveProgress()
        }
        return counter
    }

    /// Whether this device has given out a counter that it does not know of: it was restored from an older image.
    func isForgotten(_ counter: UInt64) -> Bool {
        !outbox.hasCounted && counter > progress.lastCounter || progress.gaps.contains { $0.contains(counter) }
    }

    /// The group has forgotten this device: what changed here since it published as a member is known to nobody else.
    func noteForgotten() {
        guard progress.forgotten == 0 else { return }
        progress.forgotten = max(outbox.publishedAsMember, 1)
    }

    /// Whether a key has changed here since the device was restored from an older image, or since it last published
    /// before the group forgot it, as far as this can be told: in this process, or later than a counter of that time.
    func isEdited(_ name: String) -> Bool {
        localChanges.edited.contains(name) || progress.forgotten > 0 && entries[name]?.changed ?? 0 > progress.forgotten
    }

    func saveProgress() throws(StorageError) { try commit([], with: progress) }

    /// Makes changes, and takes over those that were made.
    ///
    /// - Parameter next: The progress from then on, saved with the changes if all are made; `nil` to leave it.
    /// - Returns: The names of those that were not, since the value is another one now.
    @discardableResult
    func commit(_ changes: [SyncChange], with next: SyncProgress? = nil) throws(StorageError) -> Set<String> {
        guard !changes.isEmpty || next != nil else { return [] }
        var changes = changes
        for index in changes.indices where changes[index].entry?.isEmpty == true { changes[index].entry = nil }
        var next = next
        next?.time = clock.latest
        let refused = Set(try replica.commit(changes, progress: next?.encoded()))
        if let next, refused.isEmpty { (progress, isProgressDue) = (next, false) }
        var addresses: [String] = []
        for (index, change) in changes.enumerated() where !refused.contains(index) {
            try self.index(change.entry, as: change.name)
            if change.changesValue { addresses.append(change.address) }
            if change.loser != nil { counts.conflicts += 1 }
        }
        if !addresses.isEmpty { applied(addresses) }
        return Set(refused.map { changes[$0].name })
    }
}
