internal import FoundationEssentials
internal import LocalDataAPI
internal import Synchronization

/// This device in its sync group, with one configuration: opens what sync needs, and takes turns with the device's
/// other processes.
///
/// All work runs on threads of its own, one call at a time, since a transport may wait for the network.
final class SyncDevice: @unchecked Sendable {
    // `opened` is used in the lane alone, by one call at a time.

    /// What one turn works with.
    struct Turn {
        let engine: SyncEngine
        let group: MemberGroup
        let carrier: TransportCarrier
    }

    let snapshot: RouterSnapshot
    let keys: [SyncedKey]
    let home: OpenStore
    private let crypto: GroupCrypto
    private let transport: LoadedTransport
    private let keychain: KeychainValue
    private let migrations: MigrationEngine
    private let applied: @Sendable ([String]) -> Void
    private let now: @Sendable () -> UInt64
    let machine: @Sendable () -> String?
    private let lane = CallLane(width: 1, timeout: nil, threads: .own)
    private let lock: FileLock
    /// What the last turn left, the number of that turn, and what it stored as the standing.
    private var opened: (turn: Turn, number: UInt64, standing: SyncStanding?)?
    private let hasUnsaved = Atomic<Bool>(false)

    /// May wait.
    ///
    /// - Parameters:
    ///   - home: A store that keeps what is about no single value.
    ///   - migrations: Those whose older data is not brought any more once another device's value is here.
    ///   - now: Milliseconds since 1970 UTC.
    ///   - machine: The machine's id; `nil` if it has none.
    ///   - applied: Called with the addresses of values that other devices have changed.
    init(
        _ snapshot: RouterSnapshot, keys: [SyncedKey], home: OpenStore, migrations: MigrationEngine,
        now: @escaping @Sendable () -> UInt64, machine: @escaping @Sendable () -> String?,
        applied: @escaping @Sendable ([String]) -> Void
    ) throws(StorageError) {
        guard let slot = snapshot.transport else {
            throw StorageError(
                .invalidConfiguration, "no sync transport is configured, so nothing carries the values",
                hint: "run: ld-host config set sync.options.folder DIR, then: ld-host config set sync.transport folder")
        }
        for open in keys.map(\.resolved.open) + [home] where open.isGoneWithProcess {
            throw StorageError(
                .unsupported,
                "the store '\(open.name)' keeps values in this process's memory only, so they cannot be "
                    + "synced",
                hint: "map its domains to a lasting store: ld-host config set domains.DOMAIN file")
        }
        for open in keys.map(\.resolved.open) + [home] where open.store.abilities.enumeration == nil {
            throw StorageError(
                .unsupported, "the store '\(open.name)' cannot list its values, which sync needs",
                hint: "map its domains to another store: ld-host config set domains.DOMAIN file")
        }
        (self.snapshot, self.keys, self.home, self.now, self.applied) = (snapshot, keys, home, now, applied)
        (self.migrations, self.machine) = (migrations, machine)
        crypto = try GroupCrypto(try snapshot.crypto.openIfNeeded())
        transport = try slot.openIfNeeded()
        keychain = try snapshot.rings.value(HostSettings.Encryption.defaultService, SyncMembership.account)
        lock = FileLock("\(snapshot.settings.folders.state)/sync.lock")
    }

    /// Calls `notify` on any thread whenever the transport may have something new.
    func subscribe(_ notify: @escaping @Sendable () -> Void) async throws(StorageError) -> TransportSubscription {
        let transport = transport
        return try await onIOThread { () throws(StorageError) in try transport.subscribe { _ in notify() } }
    }

    func unsubscribe(_ subscription: TransportSubscription) async {
        let transport = transport
        _ = try? await onIOThread { () throws(StorageError) in transport.unsubscribe(subscription) }
    }

    /// Asks calls that wait for the other side to return.
    func cancel() { transport.cancel() }
}

// Turns.
extension SyncDevice {
    /// Runs `body` while no other process of this device syncs.
    ///
    /// - Throws: `notFound` if this device is in no group; `permissionDenied` if it was removed from it; `busy` if
    ///   another process takes too long; what `body` throws.
    func turn<Result: Sendable>(
        _ body: @escaping @Sendable (Turn) throws(StorageError) -> Result
    ) async throws(StorageError) -> Result {
        try await lane.run("syncing") { [self] () throws(StorageError) in
            try lock.exclusive { (file) throws(StorageError) in
                let number = try file.number()
                let isOpen = opened.map { $0.number == number } ?? false
                let (turn, kept): (Turn, SyncStanding?) =
                    if let opened, isOpen { (opened.turn, opened.standing) } else { (try open(), nil) }
                // Others read what this turn changes.
                try file.setNumber(number &+ 1)
                opened = (turn, number &+ 1, nil)
                defer { hasUnsaved.store(opened?.turn.engine.isProgressDue ?? false, ordering: .releasing) }
                do throws(StorageError) {
                    let result = Swift.Result { () throws(StorageError) in try body(turn) }
                    let standing = SyncStanding(of: turn.group, isJoining: turn.engine.isJoining)
                    if standing == nil || standing != kept { try keepStanding(standing) }
                    opened?.standing = standing
                    return try result.get()
                } catch {
                    // What is in memory may be ahead of what is stored, unless only the transport failed.
                    if ![.storeUnavailable, .timedOut, .cancelled].contains(error.code) { opened = nil }
                    throw error
                }
            }
        }
    }

    private func open() throws(StorageError) -> Turn {
        guard let membership = try SyncMembership.load(from: keychain, crypto) else {
            try keepStanding(nil)
            throw Self.noGroup
        }
        let group = try MemberGroup(membership, crypto, keychain: keychain, page: try SyncPlace.log(in: home))
        try requireSameMachine(group)
        return try turn(of: group)
    }

    private func turn(of group: MemberGroup) throws(StorageError) -> Turn {
        let carrier = TransportCarrier(transport)
        carrier.isLost = { group.forgetPublished() }
        var limits = SyncEngine.Limits()
        limits.automatic = snapshot.settings.sync.maxAutoSyncSize
        let engine = try SyncEngine(
            group: group, replica: RouterReplica(keys, home: home, of: group, migrations), carrier: carrier,
            limits: limits, now: now)
        return Turn(engine: engine, group: group, carrier: carrier)
    }

    /// The number of members of the group that this device is in, as far as it knows; `nil` if it is in none. May wait.
    static func memberCount(_ snapshot: RouterSnapshot) throws(StorageError) -> Int? {
        let crypto = try GroupCrypto(try snapshot.crypto.openIfNeeded())
        let keychain = try snapshot.rings.value(HostSettings.Encryption.defaultService, SyncMembership.account)
        guard let membership = try SyncMembership.load(from: keychain, crypto) else { return nil }
        let home = try snapshot.slot(for: homeDomain).openIfNeeded()
        let group = try MemberGroup(membership, crypto, keychain: keychain, page: try SyncPlace.log(in: home))
        return group.members.count
    }

    /// The domain whose store keeps what is about no single value.
    static let homeDomain = "userDefaults"

    static var noGroup: StorageError {
        StorageError(
            .notFound, "this device is in no sync group",
            hint: "create one with: ld-host sync init; or join one with: ld-host sync join")
    }

    /// Makes this device the first member of a new group.
    ///
    /// - Throws: `busy` if it is in a group.
    func create(named name: String) async throws(StorageError) {
        try await enter { [self] () throws(StorageError) in
            try MemberGroup.creating(
                named: name, role: snapshot.settings.role, crypto, keychain: keychain,
                page: try SyncPlace.log(in: home))
        }
    }

    /// Joins a group by an invitation's code.
    ///
    /// - Throws: `busy` if the device is in a group; `invalidOptions` for a mistyped code; `notFound` and `cannotOpen`
    ///   if the code opens no invitation.
    func join(_ code: String, named name: String) async throws(StorageError) {
        try await enter { [self] () throws(StorageError) in
            try MemberGroup.joining(
                by: try Invitation(code: code, crypto), named: name, role: snapshot.settings.role,
                TransportCarrier(transport), crypto, keychain: keychain, page: try SyncPlace.log(in: home))
        }
    }

    private func enter(
        _ make: @escaping @Sendable () throws(StorageError) -> MemberGroup
    ) async throws(StorageError) {
        try await lane.run("entering the sync group") { [self] () throws(StorageError) in
            try lock.exclusive { (file) throws(StorageError) in
                let former = try formerGroup()
                if former == nil { try forgetEntries() }
                let group = try make()
                if let former, former != group.log.group { try forgetEntries() }
                // Until it has what the group has, it migrates none of the group's values.
                try keepStanding(SyncStanding(of: group, isJoining: true))
                try keepMachine(group)
                try group.save()
                try file.setNumber(try file.number() &+ 1)
                opened = nil
                if former == group.log.group { try turn(of: group).engine.takeOverAgain() }
                try group.publish(to: TransportCarrier(transport))
            }
        }
    }

    /// The group that has forgotten this device; `nil` if it is in none.
    ///
    /// - Throws: `busy` if it is in a group that has not.
    private func formerGroup() throws(StorageError) -> EntryID? {
        guard let membership = try SyncMembership.load(from: keychain, crypto) else { return nil }
        let group = try MemberGroup(membership, crypto, keychain: keychain, page: try SyncPlace.log(in: home))
        guard group.isForgotten else {
            throw StorageError(
                .busy, "this device is in a sync group",
                hint: "leave it first, on every device that is to use another one: ld-host sync leave")
        }
        return group.log.group
    }

    /// Leaves the group: the values stay, and what sync knew of them goes.
    func leave() async throws(StorageError) {
        try await lane.run("leaving the sync group") { [self] () throws(StorageError) in
            try lock.exclusive { (file) throws(StorageError) in
                guard let membership = try SyncMembership.load(from: keychain, crypto) else { throw Self.noGroup }
                let group = try MemberGroup(
                    membership, crypto, keychain: keychain, page: try SyncPlace.log(in: home))
                // The machine that this one is a copy of stays in the group.
                if group.members.count > 1, group.members.contains(group.me), try !isOtherMachine(group) {
                    try group.remove(group.me)
                    try group.publish(to: TransportCarrier(transport))
                }
                try forgetEntries()
                try keychain.remove()
                try keepStanding(nil)
                try file.setNumber(try file.number() &+ 1)
                opened = nil
            }
        }
    }

    /// Forgets what sync knows of the values: of another group, or of an earlier membership.
    private func forgetEntries() throws(StorageError) {
        var stores: [OpenStore] = []
        for open in keys.map(\.resolved.open) + [home] where !stores.contains(where: { $0 === open }) {
            stores.append(open)
        }
        for open in stores {
            var names: [String] = []
            try open.store.forEachName(in: HostSettings.syncNamespace) {
                names.append($0)
                return true
            }
            for name in names {
                let value = try open.value(at: StorageAddress(HostSettings.syncNamespace, name: name))
                _ = try value.remove()
            }
        }
    }
}

// What a turn does.
extension SyncDevice {
    /// Goes on as far as the transport can be reached, and reports.
    ///
    /// - Parameters:
    ///   - changed: The addresses of values that may have changed here; `nil` for all.
    ///   - savesAll: Whether to save, too, what the next process would find out by itself; see ``saveDue()``.
    ///   - first: What to do before.
    func sync(
        _ changed: [String]? = nil, savesAll: Bool = true,
        first: @escaping @Sendable (Turn) throws(StorageError) -> Void = { _ in }
    ) async throws(StorageError) -> SyncReport {
        try await turn { [self] (turn) throws(StorageError) in
            var report = SyncReport(of: turn)
            try reporting(turn, to: &report) { () throws(StorageError) in
                if let changed {
                    for address in changed { try turn.engine.noticeChange(of: address) }
                } else {
                    turn.engine.noticeAll()
                }
                try turn.group.publish(to: turn.carrier)
                try first(turn)
                try step(turn, savesAll: savesAll)
            }
            return report
        }
    }

    /// Whether turns have left it to ``saveDue()`` to save how far sync has come.
    var isToSave: Bool { hasUnsaved.load(ordering: .acquiring) }

    /// Saves how far sync has come if turns have left that to later.
    ///
    /// - Returns: Whether all is saved. If another process has synced since, what was to be saved is forgotten, and the
    ///   next ``sync(_:savesAll:first:)`` finds it out again.
    @discardableResult
    func saveDue() async throws(StorageError) -> Bool {
        guard isToSave else { return true }
        return try await turn { (turn) throws(StorageError) in
            guard turn.engine.isProgressDue else { return turn.engine.pendingCount == 0 }
            try turn.engine.saveDue()
            return true
        }
    }

    /// Publishes what has changed here. What others have published waits, unless something is to be found out first;
    /// and ``saveDue()`` has to follow in time.
    ///
    /// - Parameter changed: The addresses of values that may have changed here.
    func publish(_ changed: [String]) async throws(StorageError) -> SyncReport {
        try await turn { [self] (turn) throws(StorageError) in
            var report = SyncReport(of: turn)
            try reporting(turn, to: &report) { () throws(StorageError) in
                for address in changed { try turn.engine.noticeChange(of: address) }
                try requireMember(turn.group)
                if try !turn.engine.publishChanges() { try step(turn, savesAll: false) }
            }
            return report
        }
    }

    /// One step, and those that follow from it.
    private func step(_ turn: Turn, savesAll: Bool = true) throws(StorageError) {
        // Others forget a device that says nothing for too long.
        turn.engine.renewStatus(after: UInt64(snapshot.settings.sync.forget) * 86_400_000 / 8)
        for _ in 0..<4 {
            let wasJoining = turn.engine.isJoining
            try requireMember(turn.group)
            do throws(StorageError) { try turn.engine.step(savesAll: savesAll) } catch {
                // What it lacks, it may lack since it was removed.
                try requireMember(turn.group)
                throw error
            }
            try requireMember(turn.group)
            try turn.group.rekeyIfNeeded()
            try forgetAbsent(turn)
            let isGroupNews = turn.group.hasDueRecords
            try turn.group.publish(to: turn.carrier)
            guard isGroupNews || wasJoining && !turn.engine.isJoining else { return }
        }
    }

    /// Lets the group forget members that were away for longer than `sync.forget`, so that it need not remember
    /// removals for them. The first member that is not away does it.
    private func forgetAbsent(_ turn: Turn) throws(StorageError) {
        let place = try SyncPlace.presence(in: home)
        let before = try place.valueNow().flatMap { SyncPresence($0) } ?? SyncPresence()
        var presence = before
        presence.update(turn.engine.statusCounters, now: now())
        if presence != before { try place.setNow(presence.encoded()) }
        let absent = presence.absent(after: snapshot.settings.sync.forget)
        guard turn.group.members.first(where: { !absent.contains($0) }) == turn.group.me else { return }
        for device in absent.sorted() { try turn.group.forget(device) }
    }

    private func requireMember(_ group: MemberGroup) throws(StorageError) {
        guard !group.isForgotten else {
            throw StorageError(
                .permissionDenied, "this device was away for so long that its sync group has forgotten it",
                hint: "its values stay here; to take part again, join by a new invitation: ld-host sync join")
        }
        guard group.members.contains(group.me) else {
            throw StorageError(
                .permissionDenied, "this device is no member of its sync group any more",
                hint: "its values stay here; to take part again: ld-host sync leave, then join by a new invitation")
        }
    }

    private func reporting(
        _ turn: Turn, to report: inout SyncReport, _ body: () throws(StorageError) -> Void
    ) throws(StorageError) {
        let before = turn.engine.counts.conflicts
        var addresses: [String] = []
        turn.engine.applied = { [applied] in
            addresses += $0
            applied($0)
        }
        defer { turn.engine.applied = { _ in } }
        try body()
        report = SyncReport(of: turn)
        report.changed = addresses
        report.conflicts = turn.engine.counts.conflicts - before
    }

    /// Reports without asking the transport.
    func report() async throws(StorageError) -> SyncReport {
        try await turn { (turn) throws(StorageError) in
            try turn.engine.observe()
            try turn.engine.findTooLarge()
            return SyncReport(of: turn)
        }
    }

    /// The members, the longest in the group first.
    func members() async throws(StorageError) -> [SyncMember] {
        try await turn { (turn) throws(StorageError) in
            turn.group.log.state.members.map {
                SyncMember(
                    id: $0.id.text, name: $0.name, role: $0.role, isThis: $0.id == turn.group.me, since: $0.since)
            }
        }
    }

    /// Invites a device.
    func invite(for seconds: Int) async throws(StorageError) -> SyncInvitation {
        try await turn { [self] (turn) throws(StorageError) in
            try step(turn)
            let invitation = try turn.group.invite(for: seconds)
            try turn.group.publish(to: turn.carrier)
            return SyncInvitation(code: invitation.code, lifetime: .seconds(seconds))
        }
    }
}

extension SyncReport {
    fileprivate init(of turn: SyncDevice.Turn) {
        let (engine, counts) = (turn.engine, turn.engine.counts)
        self.init(
            device: turn.group.me.text, members: turn.group.members.count, keys: engine.keys.count,
            isJoining: engine.isJoining, isComplete: engine.isComplete,
            pending: engine.duties.subtracting(engine.tooLarge).count,
            tooLarge: engine.tooLarge.intersection(engine.duties).compactMap { engine.keys[$0]?.address }.sorted(),
            removalsToAccept: engine.removalsToAccept, changed: [], conflicts: 0,
            refused: Refused(
                forged: counts.forged + turn.group.log.refused, foreign: counts.foreign, former: counts.former,
                replayed: counts.replayed, outdated: counts.outdated))
    }
}
