package import FoundationEssentials
package import LocalDataAPI

/// What members do about codes: what one opened while it was open, it opens no longer when it was used, was revoked, or
/// its time is over. Times are milliseconds since 1970 UTC.
extension GroupLog {
    /// Whether ``renew(by:at:)`` would start an epoch.
    package func owesEpoch(_ device: DeviceID, at time: UInt64) -> Bool {
        state.member(device) != nil
            && (state.needsRekey || state.isKnownByCode || state.invitations.contains { isOver($0, at: time) })
    }

    /// Whether an unused invitation has to end: its time is over, a device made it that is no member any more, or
    /// somebody that may not join has its code, for whom no epoch's key is sealed.
    func isOver(_ invitation: GroupState.OpenInvitation, at time: UInt64) -> Bool {
        !invitation.isOpen(at: time) || state.member(invitation.author) == nil || invitation.isUsedInVain
    }

    /// Starts a new epoch if others than the members and the holders of open codes may have the current one's key, or
    /// a member lacks one; and ends the invitations that are over.
    ///
    /// - Returns: Whether it has started one.
    package mutating func renew(by device: DeviceKeys, at time: UInt64) throws(StorageError) -> Bool {
        guard owesEpoch(device.id, at: time) else { return false }
        _ = try rekey(by: device, at: time)
        return true
    }

    /// Adds entries that have arrived. A join that no member from before its invitation has taken in yet, and that
    /// arrives here after the invitation's end, does not count: its own time is only what its author says. The
    /// invitation is ended by an entry that does not know the join.
    ///
    /// - Parameter device: This device; it decides only as a member.
    /// - Returns: How many entries are new.
    package mutating func take(
        _ entries: [Data], by device: DeviceKeys, at time: UInt64
    ) throws(StorageError) -> Int {
        var whole = self
        let added = whole.add(contentsOf: entries)
        let isMember = state.member(device.id) != nil && whole.state.member(device.id) != nil
        var (base, invites) = (whole, Set<EntryID>())
        var heldBack: Set<EntryID> = []
        // Without late joins, others that are as late can count, such as those under the same invitations.
        while isMember, case let late = base.lateJoins(beside: self, at: time), !late.isEmpty {
            let graph = base.graph
            for number in late {
                if case .join(let invite, _) = graph.entries[number].body { invites.insert(invite) }
            }
            let after = graph.entries.indices.filter { number in
                late.contains { $0 == number || graph.comes($0, before: number) }
            }
            heldBack.formUnion(after.map { graph.entries[$0].id })
            base = self
            base.heldBack = heldBack
            base.add(contentsOf: entries)
        }
        // Without the late joins, another device can have this one's place: then others have to decide.
        guard !invites.isEmpty, base.state.member(device.id) != nil else {
            self = whole
            return added
        }
        // The invite of a late join can be that of a device whose own join is late. No entry can name it then, and it
        // is void as soon as that join is.
        let known = base.graph.closure(of: base.valid)
        let named = invites.filter { invite in base.graph.number(of: invite).map { known.contains($0) } ?? false }
        _ = try base.rekey(by: device, at: time, naming: Array(named))
        base.heldBack = []
        base.add(contentsOf: entries)
        self = base
        return added
    }

    /// The joins that count although their invitations' time is over, and that no member from before has taken in.
    private func lateJoins(beside known: GroupLog, at time: UInt64) -> [Int] {
        valid.reduce(into: []) { late, number in
            let entry = graph.entries[number]
            guard !takenIn.contains(number), case .join(let invite, _) = entry.body,
                known.graph.number(of: entry.id) == nil,
                let place = graph.number(of: invite), case .invite(let invite) = graph.entries[place].body,
                invite.expiry < time
            else { return }
            late.append(number)
        }
    }
}
