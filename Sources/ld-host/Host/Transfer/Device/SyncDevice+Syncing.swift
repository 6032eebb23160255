internal import FoundationEssentials
package import HostGround
internal import HostStores
package import HostSync
package import LocalDataAPI
internal import Synchronization

// What a turn does.
extension SyncDevice {
    /// Goes on as far as the transport can be reached, and reports.
    ///
    /// - Parameters:
    ///   - changed: The addresses of values that may have changed here; `nil` for all.
    ///   - savesAll: Whether to save, too, what the next process would find out by itself; see ``saveDue()``.
    ///   - first: What to do before.
    package func sync(
        _ changed: [String]? = nil, savesAll: Bool = true,
        first: @escaping @Sendable (Turn) throws(StorageError) -> Void = { _ in }
    ) async throws(StorageError) -> SyncReport {
        try await turn { [self] (turn) throws(StorageError) in
            var report = SyncReport(of: turn, without: leftOut)
            try reporting(turn, to: &report) { () throws(StorageError) in
                if let changed {
                    for address in changed { try turn.engine.noticeChange(of: address) }
                } else {
                    turn.engine.noticeAll()
                }
                try turn.group.publish(to: turn.carrier)
                do throws(StorageError) { try first(turn) } catch {
                    // It may have been removed since.
                    try Self.requireMember(turn.group)
                    throw error
                }
                try step(turn, savesAll: savesAll)
            }
            return report
        }
    }

    /// Whether turns have left it to ``saveDue()`` to save how far sync has come.
    package var isToSave: Bool { hasUnsaved.load(ordering: .acquiring) }

    /// Saves how far sync has come if turns have left that to later.
    ///
    /// - Returns: Whether all is saved. If another process has synced since, what was to be saved is forgotten, and the
    ///   next ``sync(_:savesAll:first:)`` finds it out again.
    package func saveDue() async throws(StorageError) -> Bool {
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
    package func publish(_ changed: [String]) async throws(StorageError) -> SyncReport {
        try await turn { [self] (turn) throws(StorageError) in
            var report = SyncReport(of: turn, without: leftOut)
            try reporting(turn, to: &report) { () throws(StorageError) in
                for address in changed { try turn.engine.noticeChange(of: address) }
                try Self.requireMember(turn.group)
                let isDone = turn.group.owesEpoch ? false : try turn.engine.publishChanges()
                if !isDone { try step(turn, savesAll: false) }
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
            try Self.requireMember(turn.group)
            try turn.group.takePart()
            do throws(StorageError) { try turn.engine.step(savesAll: savesAll) } catch {
                // What it lacks, it may lack since it was removed.
                try Self.requireMember(turn.group)
                throw error
            }
            try Self.requireMember(turn.group)
            try forgetAbsent(turn)
            try turn.group.takePart()
            let isGroupNews = turn.group.hasDueRecords
            try turn.group.publish(to: turn.carrier)
            noteSync(at: now())
            let isDue = !turn.engine.isJoining && !turn.engine.outbox.pending.isEmpty
            guard isGroupNews || wasJoining && !turn.engine.isJoining || isDue else { return }
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

    /// The error for a membership without the log of its group.
    static var lostLog: StorageError {
        StorageError(
            .securityApplicationFailed,
            "the store of the domain '\(homeDomain)' has no record of the sync group that this device's keys belong to",
            hint: "if this device was in a group and that store has lost it: ld-host sync pull --recover; if it was "
                + "not, somebody else's keys are in the keychain: ld-host sync leave --offline")
    }

    static func requireMember(_ group: MemberGroup) throws(StorageError) {
        guard !group.hasLostLog else {
            throw lostLog
        }
        guard !group.isForgotten else {
            throw StorageError(
                .permissionDenied, "this device was away for so long that its sync group has forgotten it",
                hint: "its values stay here; to take part again, join by a new invitation: ld-host sync join")
        }
        guard group.isKnown(group.me) else {
            throw StorageError(
                .permissionDenied,
                "this device is not in the sync group: its invitation had ended, or another device had used it, before a "
                    + "member knew that it joined",
                hint: "its values stay here; to take part: ld-host sync leave, then join by a new invitation")
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
        var (addresses, seen) = ([String](), Set<ExactText>())
        turn.engine.applied = { [applied] in
            addresses += $0.filter { seen.insert(ExactText($0)).inserted }
            applied($0)
        }
        defer { turn.engine.applied = { _ in } }
        try body()
        report = reported(turn)
        report.changed = addresses
        report.conflicts = turn.engine.counts.conflicts - before
    }

    private func reported(_ turn: Turn) -> SyncReport {
        var report = SyncReport(of: turn, without: leftOut)
        report.lastSync = lastSync
        return report
    }

    /// When this device last read what the transport had. Kept beside the values it would be one more durable write
    /// each time; it is for people only.
    private var lastSync: Date? {
        let number = try? syncTime.shared { (file) throws(StorageError) in try file.number() }
        return number.flatMap { $0 > 0 ? Date(timeIntervalSince1970: Double($0) / 1000) : nil }
    }

    /// - Parameter time: Milliseconds since 1970 UTC; 0 for a device that is in no group.
    func noteSync(at time: UInt64) {
        try? syncTime.exclusive { (file) throws(StorageError) in try file.setNumber(time) }
    }

    /// Reports without asking the transport.
    package func report() async throws(StorageError) -> SyncReport {
        try await turn { [self] (turn) throws(StorageError) in
            try Self.requireMember(turn.group)
            try turn.engine.observe()
            try turn.engine.findTooLarge()
            return reported(turn)
        }
    }

    /// The members, the longest in the group first.
    package func members() async throws(StorageError) -> [SyncMember] {
        try await turn { (turn) throws(StorageError) in turn.members }
    }

    /// Removes a member.
    ///
    /// What others have published is read before. From the removal on, nothing that the removed device has said counts
    /// unless it is known: also that it has removed others, or that a new epoch ends its invitations.
    ///
    /// - Parameters:
    ///   - code: The group's recovery code, with which this device removes also one that has removed it.
    ///   - choose: Returns the one of the members that is removed.
    /// - Throws: What keeps the removal from being published; then it was not made. An error of what follows says that
    ///   it was made.
    package func remove(
        with code: RecoveryCode? = nil,
        _ choose: @escaping @Sendable ([SyncMember]) throws(StorageError) -> SyncMember
    ) async throws(StorageError) -> SyncReport {
        try await turn { [self] (turn) throws(StorageError) in
            var report = SyncReport(of: turn, without: leftOut)
            try reporting(turn, to: &report) { () throws(StorageError) in
                if code == nil { try Self.requireMember(turn.group) }
                try turn.engine.pull()
                if code == nil { try Self.requireMember(turn.group) }
                let member = try choose(turn.members)
                guard let id = DeviceID(text: member.id) else { return }
                try turn.group.remove(id, with: code, by: turn.carrier)
                do throws(StorageError) { try step(turn) } catch {
                    throw error.after("'\(member.name)' is removed from the group")
                }
            }
            return report
        }
    }

    /// Ends all open invitations.
    ///
    /// - Returns: How many there were.
    package func revokeInvitations() async throws(StorageError) -> Int {
        try await turn { [self] (turn) throws(StorageError) in
            try step(turn)
            return try turn.group.endInvitations(by: turn.carrier)
        }
    }

    /// Invites a device.
    package func invite(for seconds: Int) async throws(StorageError) -> SyncInvitation {
        try await turn { [self] (turn) throws(StorageError) in
            try step(turn)
            let invitation = try turn.group.invite(for: seconds)
            try turn.group.publish(to: turn.carrier)
            return SyncInvitation(code: invitation.code, lifetime: .seconds(seconds))
        }
    }
}

extension SyncDevice.Turn {
    /// The members, the longest in the group first, and then the devices that were away for too long.
    var members: [SyncMember] {
        let state = group.log.state
        return (state.members.map { ($0, false) } + state.forgotten.map { ($0, true) }).map { member, isForgotten in
            SyncMember(
                id: member.id.text, name: member.name, role: member.role, isThis: member.id == group.me,
                since: member.since, isForgotten: isForgotten)
        }
    }
}

extension SyncMember {
    /// Whether a person who writes this means the device: its id, the beginning of it, or its name.
    package func isMeant(by text: String) -> Bool { !text.isEmpty && (id.hasPrefix(text) || name == text) }
}

extension RecoveryCode {
    /// The text of a code that a file descriptor supplies, to its end. To be called before the program opens files of
    /// its own.
    ///
    /// - Throws: `securityApplicationFailed` if it cannot be read; `valueTooLarge`.
    package static func reading(_ descriptor: Int32) throws(StorageError) -> SecretBytes {
        try KeyMaterialProviders.readAll(descriptor)
    }
}

extension SyncReport {
    fileprivate init(of turn: SyncDevice.Turn, without leftOut: [SyncDevice.LeftOut]) {
        let (engine, counts) = (turn.engine, turn.engine.counts)
        self.init(
            device: turn.group.me.text, members: turn.group.members.count, keys: engine.keys.all.count,
            isJoining: engine.isJoining, isComplete: engine.isComplete,
            awaited: turn.group.log.state.members.filter { $0.id != turn.group.me && !engine.isComplete($0.id) }
                .map(\.name),
            pending: engine.outbox.pending.count,
            tooLarge: engine.tooLargeAddresses,
            keptAside: engine.parkedAddresses,
            leftOut: leftOut.map { LeftOut(address: $0.address, reason: $0.reason) },
            removalsToAccept: engine.removalsToAccept, changed: [], conflicts: 0,
            refused: Refused(
                forged: counts.forged + turn.group.log.refused, foreign: counts.foreign, former: counts.former,
                replayed: counts.replayed, outdated: counts.outdated))
    }
}

extension StorageError {
    /// The error of what followed something that is done; the next sync goes on.
    package func after(_ done: String) -> StorageError {
        StorageError(
            code, "\(done); what followed failed: \(message)",
            hint: hint.isEmpty ? "continue with: ld-host sync pull" : "\(hint); then continue with: ld-host sync pull")
    }
}
