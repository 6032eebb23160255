internal import FoundationEssentials
internal import HostGround
package import HostMigration
package import HostPlugins
package import HostStores
package import HostSync
package import LocalDataAPI
internal import Synchronization

/// This device in its sync group, with one configuration: opens what sync needs, and takes turns with the device's
/// other processes.
///
/// All work runs on threads of its own, one call at a time, since a transport may wait for the network.
package final class SyncDevice: @unchecked Sendable {
    // `opened` is used in the lane alone, by one call at a time.

    /// What one turn works with.
    package struct Turn {
        package let engine: SyncEngine
        let group: MemberGroup
        let carrier: TransportCarrier
    }

    /// A key whose value cannot be read, or brought to where the key is now. To the other devices, this one is as one
    /// that does not know the key yet.
    package struct LeftOut {
        package let key: AnyStorageKey
        package let address: String
        package let reason: String

        package init(key: AnyStorageKey, address: String, reason: String) {
            self.key = key
            self.address = address
            self.reason = reason
        }
    }

    package let snapshot: RouterSnapshot
    package let keys: [SyncedKey]
    package let leftOut: [LeftOut]
    /// Whether another device is to bring earlier values of some of the keys, and these take part under their former
    /// names.
    package let waits: Bool
    let home: OpenStore
    private let crypto: GroupCrypto
    private let transport: LoadedTransport
    private let keychain: KeychainValue
    private let migrations: MigrationEngine
    let applied: @Sendable ([String]) -> Void
    let now: @Sendable () -> UInt64
    let machine: @Sendable () -> String?
    private let lane = CallLane(width: 1, timeout: nil, threads: .own)
    private let lock: FileLock
    /// The file with the time of the last sync.
    let syncTime: FileLock
    /// The number of the latest move between stores when this was made.
    private let knownMoves: Int
    /// What the last turn left, the number of that turn, and what it stored as the standing.
    private var opened: (turn: Turn, number: UInt64, standing: SyncStanding?)?
    let hasUnsaved = Atomic<Bool>(false)

    /// May wait.
    ///
    /// - Parameters:
    ///   - leftOut: Keys that take part as soon as their values can be read.
    ///   - waits: Whether another device is to bring earlier values of some of the keys.
    ///   - home: A store that keeps what is about no single value.
    ///   - migrations: Those whose older data is not brought any more once another device's value is here.
    ///   - now: Milliseconds since 1970 UTC.
    ///   - machine: The machine's id; `nil` if it has none.
    ///   - applied: Called with the addresses of values that other devices have changed.
    package init(
        _ snapshot: RouterSnapshot, keys: [SyncedKey], leftOut: [LeftOut], waits: Bool, home: OpenStore,
        migrations: MigrationEngine, now: @escaping @Sendable () -> UInt64, machine: @escaping @Sendable () -> String?,
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
        for open in keys.map(\.resolved.open) + [home] where open.store.abilities.lock != nil {
            throw StorageError(
                .unsupported,
                "the store '\(open.name)' is shared by several machines, which all have its values already; sync's "
                    + "records of one device would conflict with those of the others",
                hint: "map the domain to a store that only this device uses: ld-host config set domains.DOMAIN file")
        }
        (self.snapshot, self.keys, self.home, self.now, self.applied) = (snapshot, keys, home, now, applied)
        (self.migrations, self.machine, self.leftOut, self.waits) = (migrations, machine, leftOut, waits)
        crypto = try GroupCrypto(try snapshot.crypto.openIfNeeded())
        transport = try slot.openIfNeeded()
        keychain = try snapshot.rings.value(HostSettings.Encryption.defaultService, SyncMembership.account)
        lock = Self.lock(snapshot.settings.folders)
        syncTime = FileLock("\(snapshot.settings.folders.state)/sync.time", patience: .seconds(1))
        knownMoves = try MovedDomains(snapshot.settings.folders).last
    }

    /// Held by the one process of this device that syncs.
    static func lock(_ folders: HostSettings.Folders) -> FileLock { FileLock("\(folders.state)/sync.lock") }

    /// Calls `notify` on any thread whenever the transport may have something new.
    package func subscribe(_ notify: @escaping @Sendable () -> Void) async throws(StorageError) -> TransportSubscription
    {
        let transport = transport
        return try await onIOThread { () throws(StorageError) in try transport.subscribe { _ in notify() } }
    }

    package func unsubscribe(_ subscription: TransportSubscription) async {
        let transport = transport
        _ = try? await onIOThread { () throws(StorageError) in transport.unsubscribe(subscription) }
    }

    /// Asks calls that wait for the other side to return.
    package func cancel() { transport.cancel() }
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
        try await alone("syncing") { [self] (file) throws(StorageError) in
            try requireUnmoved()
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

    /// Runs `body` while no other process of this device syncs, and no store is switched.
    ///
    /// - Throws: `busy` if either takes too long; ``StorageError/superseded`` if another store serves a domain by now;
    ///   what `body` throws.
    private func alone<Result: Sendable>(
        _ what: String, _ body: @escaping @Sendable (borrowing LockedFile) throws(StorageError) -> Result
    ) async throws(StorageError) -> Result {
        try await lane.run(what) { [self] () throws(StorageError) in
            // Not in the lock, which a switch waits for.
            let work = try SteadyWork(in: snapshot.settings.folders.state, within: Self.patience)
            defer { withExtendedLifetime(work) {} }
            try snapshot.requireCurrent()
            return try lock.exclusive(body)
        }
    }

    /// How long it waits for a switch of a store.
    private static let patience = Duration.seconds(600)

    /// Values that were moved to another store were not removed: this device's configuration, or this process, does not
    /// know that store yet.
    private func requireUnmoved() throws(StorageError) {
        var moved = try MovedDomains(snapshot.settings.folders)
        guard !moved.moves.isEmpty else { return }
        let serving = [Self.homeDomain: home].merging(keys.map { ($0.domain, $0.resolved.open) }) { $1 }
        for (domain, open) in serving.sorted(by: { $0.key < $1.key }) {
            try moved.requireUnmoved(domain, in: open, after: knownMoves)
            moved.follow(domain, to: open)
        }
        try moved.save()
    }

    private func open() throws(StorageError) -> Turn {
        guard let membership = try SyncMembership.load(from: keychain, crypto) else {
            try keepStanding(nil)
            throw noGroup
        }
        let group = try MemberGroup(membership, crypto, keychain: keychain, page: try SyncPlace.log(in: home))
        try requireSameMachine(group)
        guard !group.hasLostLog else { throw Self.lostLog }
        return try turn(of: group)
    }

    /// Reads the group's log again from the transport, after the store that kept it has lost it, and adopts the group's
    /// values again. Does nothing if the log is there.
    ///
    /// A membership without a log need not be this device's own: to the keychain's store, it is one value. Whoever can
    /// write there may have put it there, with the keys of a group of theirs. So only a person decides this.
    ///
    /// - Returns: The names of the group's members.
    package func recover() async throws(StorageError) -> [String] {
        try await alone("reading the sync group again") { [self] (file) throws(StorageError) in
            try requireUnmoved()
            guard let membership = try SyncMembership.load(from: keychain, crypto) else { throw noGroup }
            let group = try MemberGroup(membership, crypto, keychain: keychain, page: try SyncPlace.log(in: home))
            try requireSameMachine(group)
            if group.hasLostLog {
                try group.recoverLog(from: TransportCarrier(transport))
                try turn(of: group).engine.takeOverAgain()
                try group.save()
                try file.setNumber(try file.number() &+ 1)
                opened = nil
            }
            return group.log.state.members.map(\.name)
        }
    }

    private func turn(of group: MemberGroup) throws(StorageError) -> Turn {
        let carrier = TransportCarrier(transport)
        var limits = SyncEngine.Limits()
        limits.automatic = snapshot.settings.sync.maxAutoSyncSize
        let engine = try SyncEngine(
            group: group, replica: RouterReplica(keys, home: home, of: group, migrations, now: now),
            carrier: carrier, limits: limits, now: now)
        return Turn(engine: engine, group: group, carrier: carrier)
    }

    /// The domain whose store keeps what is about no single value.
    package static let homeDomain = "userDefaults"

    /// Makes this device the first member of a new group.
    ///
    /// - Returns: The group's recovery code, which is stored nowhere.
    /// - Throws: `busy` if it is in a group.
    package func create(named name: String) async throws(StorageError) -> RecoveryCode {
        try await enter(isFirst: true) { [self] () throws(StorageError) in
            try MemberGroup.creating(
                named: name, role: snapshot.settings.role, crypto, keychain: keychain,
                page: try SyncPlace.log(in: home))
        }
    }

    /// Reads a recovery code.
    ///
    /// - Throws: `invalidOptions` for a mistyped one.
    package func recoveryCode(_ text: String) throws(StorageError) -> RecoveryCode {
        try RecoveryCode(code: text, crypto)
    }

    /// Joins a group by an invitation's code.
    ///
    /// - Throws: `busy` if the device is in a group; `invalidOptions` for a mistyped code; `notFound` and `cannotOpen`
    ///   if the code opens no invitation.
    package func join(_ code: String, named name: String) async throws(StorageError) {
        try await enter { [self] () throws(StorageError) in
            let group = try MemberGroup.joining(
                by: try Invitation(code: code, crypto), named: name, role: snapshot.settings.role,
                TransportCarrier(transport), crypto, keychain: keychain, page: try SyncPlace.log(in: home))
            return (group, ())
        }
    }

    /// - Parameter isFirst: Whether the group is a new one, which there is only if it could be published.
    private func enter<Secret: Sendable>(
        isFirst: Bool = false, _ make: @escaping @Sendable () throws(StorageError) -> (MemberGroup, Secret)
    ) async throws(StorageError) -> Secret {
        try await alone("entering the sync group") { [self] (file) throws(StorageError) in
            try requireUnmoved()
            let former = try formerGroup()
            if former == nil { try forgetEntries() }
            let (group, secret) = try make()
            if let former, former != group.log.group { try forgetEntries() }
            // Until it has what the group has, it migrates none of the group's values.
            try keepStanding(SyncStanding(of: group, isJoining: true))
            try keepMachine(group)
            try group.save()
            try file.setNumber(try file.number() &+ 1)
            opened = nil
            if former == group.log.group { try turn(of: group).engine.takeOverAgain() }
            do throws(StorageError) { try group.publish(to: TransportCarrier(transport)) } catch {
                guard isFirst else {
                    throw error.after("this device has joined, and has not published it")
                }
                try forgetMembership(file)
                throw error
            }
            return secret
        }
    }

    private func forgetMembership(_ file: borrowing LockedFile) throws(StorageError) {
        // The keys first: without the log they would look like somebody else's. What is left of the rest goes when this
        // device enters a group.
        try keychain.remove()
        noteSync(at: 0)
        try keepStanding(nil)
        try forgetEntries()
        try file.setNumber(try file.number() &+ 1)
        opened = nil
    }

    /// The group that has forgotten this device; `nil` if it is in none.
    ///
    /// - Throws: `busy` if it is in a group that has not.
    private func formerGroup() throws(StorageError) -> EntryID? {
        guard let membership = try SyncMembership.load(from: keychain, crypto) else {
            try Self.requireNoFormerMembership(snapshot, home)
            return nil
        }
        let group = try MemberGroup(membership, crypto, keychain: keychain, page: try SyncPlace.log(in: home))
        guard group.isForgotten else {
            throw StorageError(
                .busy, "this device is in a sync group",
                hint:
                    "to continue in this group: ld-host sync pull; to use another group, first run on every device "
                    + "that will use it: ld-host sync leave")
        }
        return group.log.group
    }

    /// Syncs once more before this device leaves: what others have removed would come back if it joined again.
    private func syncLast(_ group: MemberGroup) throws(StorageError) {
        let engine = try turn(of: group).engine
        do throws(StorageError) { try engine.step() } catch {
            // A device that is no member any more cannot sync, and can leave.
            guard group.members.contains(group.me) else { return }
            throw notLeft(error)
        }
        guard engine.removalsToAccept > 0 else { return }
        snapshot.log(
            .warning, "sync",
            "\(engine.removalsToAccept.counted("value")) that the group has removed stay here, since nobody has accepted "
                + "their removal; they come back to the group if this device joins it again")
    }

    /// Leaves the group: the values stay, and what sync knew of them goes.
    ///
    /// - Parameter isOffline: Whether it leaves without a last sync, and the other devices are not notified.
    /// - Throws: What keeps the last sync from its end, or the other devices from being notified; then this device is
    ///   still in the group.
    package func leave(offline isOffline: Bool) async throws(StorageError) {
        try await alone("leaving the sync group") { [self] (file) throws(StorageError) in
            guard let membership = try SyncMembership.load(from: keychain, crypto) else { throw noGroup }
            let group = try MemberGroup(
                membership, crypto, keychain: keychain, page: try SyncPlace.log(in: home))
            // What is published to a group that this device does not know is read by its maker.
            if !isOffline, group.hasLostLog { throw Self.lostLog }
            // The machine that this one is a copy of stays in the group.
            let concernsOthers = group.members.count > 1 || group.hasInvitations
            if !isOffline, concernsOthers, group.members.contains(group.me), try !isOtherMachine(group) {
                try requireUnmoved()
                if group.members.count > 1 { try syncLast(group) }
                // It may have learned only now that it is no member any more, or that it has left before.
                if group.members.contains(group.me) { try sayThatItLeaves(group) }
            }
            try forgetMembership(file)
        }
    }

    private func sayThatItLeaves(_ group: MemberGroup) throws(StorageError) {
        let carrier = TransportCarrier(transport)
        do throws(StorageError) {
            // The last member stays in the log, which nobody reads any more.
            if group.members.count > 1 { try group.leave(by: carrier) } else { try group.endInvitations(by: carrier) }
        } catch { throw notLeft(error) }
    }

    private func notLeft(_ error: StorageError) -> StorageError {
        let offline = "if it cannot be reached any more: ld-host sync leave --offline"
        return StorageError(
            error.code, "this device is still in its sync group: \(error.message)",
            hint: error.hint.isEmpty ? offline : "\(error.hint); \(offline)")
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
