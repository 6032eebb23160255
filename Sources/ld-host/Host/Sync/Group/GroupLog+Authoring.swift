package import FoundationEssentials
package import LocalDataAPI

/// What members do. Each call adds an entry to the log and returns its published form, which goes to the other members.
/// Times are milliseconds since 1970 UTC.
extension GroupLog {
    /// Creates a group with this device as its only member. Publish ``entries``.
    ///
    /// - Returns: The log, the group's keys, and its recovery code, which nothing else has.
    /// - Throws: `invalidOptions` if the name is not allowed.
    package static func creating(
        by device: DeviceKeys, named name: String, role: DeviceRole, at time: UInt64, _ crypto: GroupCrypto
    ) throws(StorageError) -> (log: GroupLog, keys: GroupKeys, code: RecoveryCode) {
        let (secret, epochKey) = (try crypto.randomKey(), try crypto.randomKey())
        let code = try RecoveryCode(creatingWith: crypto)
        let signed = try GroupEntry.signed(
            .genesis(try profile(of: device, name, role), recoveryKey: code.publicKey), of: nil, by: device, at: time,
            after: [], crypto)
        let group = try GroupEntry.id(of: signed, crypto)
        let keys = try GroupKeys(group: group, secret: secret, epochs: [group.epoch: epochKey], crypto)
        var log = GroupLog(of: keys, crypto)
        log.owner = device.id
        _ = try log.publish(signed)
        return (log, keys, code)
    }

    /// Invites a device.
    ///
    /// - Parameters:
    ///   - keys: The inviting member's, which the new device gets.
    ///   - expiry: The invitation's end.
    /// - Throws: `permissionDenied` if this device is no member; `storeUnavailable` if it does not know the current
    ///   epoch's key.
    package mutating func invite(
        by device: DeviceKeys, with keys: GroupKeys, until expiry: UInt64, at time: UInt64
    ) throws(StorageError) -> (invitation: Invitation, entry: Data) {
        try requireMember(device)
        guard keys.knownEpochs.contains(state.epoch.id) else {
            throw StorageError(
                .storeUnavailable, "this device has not received the current key of the sync group",
                hint: "let another member come online, or invite from another one")
        }
        let invitation = try Invitation(creatingWith: crypto)
        let box = try keys.box(for: invitation, crypto)
        let body = GroupEntry.Body.invite(
            GroupEntry.Invite(
                signingKey: invitation.signingPublicKey, agreementKey: invitation.agreementPublicKey,
                invitation: invitation.id, expiry: expiry, epoch: state.epoch.id,
                boxHash: try crypto.hash(box, .invitationBoxHash)))
        let entry = try publish(
            try signed(body, by: device, at: time),
            invitation: PublishedEntry.InvitationBox(id: invitation.id, box: box))
        return (invitation, entry)
    }

    /// Removes a member and starts a new epoch; `keys.opening(log, with: device)` then has its key. A member that
    /// removes itself leaves: it knows the new key, so another one has to start one more epoch.
    ///
    /// - Parameter code: The group's recovery code. With it, the removal counts even if the other device has removed
    ///   this one, also if that is known here.
    /// - Throws: `permissionDenied` if this device is no member, or the code is another group's; `notFound` if the
    ///   other is none; `unsupported` if it is the last one.
    package mutating func remove(
        _ id: DeviceID, by device: DeviceKeys, at time: UInt64, with code: RecoveryCode? = nil
    ) throws(StorageError) -> Data {
        let base = code == nil ? self : without(removalsOf: device.id, by: id)
        if let code { try requireOwn(code) }
        try base.requireMember(device)
        // With the code also one whose removal is disputed.
        let removable = base.state.members + base.state.forgotten + (code == nil ? [] : state.removed)
        guard removable.contains(where: { $0.id == id }) else { throw notFound(id) }
        guard base.state.members.contains(where: { $0.id != id }) else {
            throw StorageError(
                .unsupported, "the last member of a sync group cannot be removed",
                hint: "leave it instead: ld-host sync leave")
        }
        let keys = try base.newEpoch(without: id, by: device)
        return try publish(
            try base.signed(.remove(id, keys, withCode: code != nil), by: device, at: time, code: code))
    }

    private func requireOwn(_ code: RecoveryCode) throws(StorageError) {
        guard case .genesis(_, code.publicKey) = graph.entries.first?.body else {
            throw StorageError(
                .permissionDenied, "the recovery code is not the one of this sync group",
                hint: "it was shown by the 'ld-host sync init' that made the group")
        }
    }

    /// Says that this device has taken in all that is in the log; see ``owesAcknowledgement(_:)``.
    package mutating func acknowledge(by device: DeviceKeys, at time: UInt64) throws(StorageError) -> Data {
        try requireMember(device)
        return try publish(try signed(.acknowledge, by: device, at: time))
    }

    /// Starts a new epoch with the present members and the invitations that stay open;
    /// `keys.opening(log, with: device)` then has its key. It starts a new era, too, if ``GroupState/needsRekey``.
    ///
    /// - Parameters:
    ///   - isEnded: Which invitations end, beside those whose time is over or whose author is no member.
    ///   - invites: Entries of invitations that end, too, also if they were used: nobody else joins by them.
    package mutating func rekey(
        by device: DeviceKeys, at time: UInt64, ending isEnded: (GroupState.OpenInvitation) -> Bool = { _ in false },
        naming invites: [EntryID] = []
    ) throws(StorageError) -> Data {
        try requireMember(device)
        let ended = Set(state.invitations.filter { isOver($0, at: time) || isEnded($0) }.map(\.entry)).union(invites)
        let named = ended.sorted().prefix(GroupEntry.Renewal.mostEnded)
        let staying = state.invitations.filter { !ended.contains($0.entry) }
        let keys = try newEpoch(for: staying, by: device)
        let renewal = GroupEntry.Renewal(continues: !state.needsRekey, ended: Array(named))
        return try publish(try signed(.rekey(keys, renewal), by: device, at: time))
    }

    /// Says that a member has been away for too long; it has to join again. A new epoch is then needed.
    ///
    /// - Throws: `permissionDenied` if this device is no member; `notFound` if the other is none; `unsupported` if it
    ///   is this device itself.
    package mutating func forget(
        _ id: DeviceID, by device: DeviceKeys, at time: UInt64
    ) throws(StorageError) -> Data {
        try requireMember(device)
        guard state.member(id) != nil else { throw notFound(id) }
        guard id != device.id else {
            throw StorageError(
                .unsupported, "a device does not forget itself", hint: "remove it from the group to leave")
        }
        return try publish(try signed(.forget(id), by: device, at: time))
    }
}

// MARK: - Joining

extension GroupLog {
    /// Reads published entries, and passes them on until the closure returns false. It may be called again.
    package typealias Reading = (_ take: (Data) -> Bool) throws(StorageError) -> Void

    /// Joins a group as a new device.
    ///
    /// - Parameter read: Reads published entries of the group, the invitation's among them. Others are ignored.
    /// - Returns: The log, the group's keys, and the entry to publish.
    /// - Throws: `notFound` if the invitation's entry is not among the entries; `cannotOpen` if the invitation has
    ///   ended.
    package static func joining(
        by invitation: Invitation, as device: DeviceKeys, named name: String, role: DeviceRole, at time: UInt64,
        _ crypto: GroupCrypto, reading read: Reading
    ) throws(StorageError) -> (log: GroupLog, keys: GroupKeys, entry: Data) {
        let keys = try keys(for: invitation, crypto, reading: read)
        var log = GroupLog(of: keys, crypto)
        log.owner = device.id
        try log.add(reading: read)
        guard let open = log.state.invitations.first(where: { $0.id == invitation.id }) else {
            throw ended("was used, or a later change of the group's members ended it")
        }
        guard open.isOpen(at: time) else { throw ended("has expired") }
        let invite = log.graph.entries.first { entry in
            if case .invite(let invite) = entry.body { invite.invitation == invitation.id } else { false }
        }
        guard let invite, log.state.member(device.id) == nil else {
            throw ended("is of a group that this device is in")
        }
        let signed = try GroupEntry.signed(
            .join(invite: invite.id, try profile(of: device, name, role)), of: log.group, by: device, at: time,
            after: log.heads, invitation: invitation, crypto)
        let entry = try log.publish(signed)
        guard log.state.member(device.id) != nil else { throw ended("does not let this device join") }
        return (log, try keys.opening(log, with: invitation), entry)
    }

    /// The keys in the invitation's box.
    private static func keys(
        for invitation: Invitation, _ crypto: GroupCrypto, reading read: Reading
    ) throws(StorageError) -> GroupKeys {
        var found: GroupKeys?
        try read { bytes in
            guard let entry = try? PublishedEntry(bytes), let box = entry.invitation, box.id == invitation.id else {
                return true
            }
            // Anybody can write such an id; only the right box opens, and only the right entry.
            guard let keys = try? GroupKeys(opening: box, with: invitation, crypto),
                (try? entry.opened(with: keys.logKey, of: keys.group, crypto)) != nil
            else { return true }
            found = keys
            return false
        }
        if let found { return found }
        throw StorageError(
            .notFound, "the transport has no invitation with this code",
            hint: "check that both devices use the same folder or server, and that the invitation has arrived there")
    }

    private static func ended(_ what: String) -> StorageError {
        StorageError(.cannotOpen, "the invitation \(what)", hint: "ask a member for a new invitation")
    }
}

// MARK: - Parts of entries

extension GroupLog {
    private func signed(
        _ body: GroupEntry.Body, by device: DeviceKeys, at time: UInt64, code: RecoveryCode? = nil
    ) throws(StorageError) -> Data {
        try GroupEntry.signed(body, of: group, by: device, at: time, after: heads, code: code, crypto)
    }

    private static func profile(
        of device: DeviceKeys, _ name: String, _ role: DeviceRole
    ) throws(StorageError) -> GroupEntry.DeviceProfile {
        guard GroupEntry.isName(name) else {
            throw StorageError(
                .invalidOptions, "a device's name has 1 to \(GroupEntry.longestName) bytes and no control characters",
                hint: "choose another name")
        }
        return GroupEntry.DeviceProfile(agreementKey: device.agreementPublicKey, role: role, name: name)
    }

    /// A new epoch key for all members but one, and for invitations.
    private func newEpoch(
        without device: DeviceID? = nil, for invitations: [GroupState.OpenInvitation] = [], by author: DeviceKeys
    ) throws(StorageError) -> GroupEntry.EpochKeys {
        let members = state.members.filter { $0.id != device }
        // All of them, since members keep the keys of epochs that are beside each other, too.
        let epochs = valid.reduce(into: 0) { if graph.entries[$1].startsEpoch { $0 += 1 } }
        guard members.count <= GroupEntry.mostDevices, epochs < GroupKeys.mostEpochs else {
            throw StorageError(
                .valueTooLarge,
                "a sync group has at most \(GroupEntry.mostDevices) members and \(GroupKeys.mostEpochs) epochs",
                hint: "start a new group: ld-host sync leave on every device, then ld-host sync init on one")
        }
        return try GroupEntry.EpochKeys(
            sealing: try crypto.randomKey(), for: members.map { ($0.id, $0.agreementKey) },
            and: invitations.prefix(GroupEntry.mostDevices).map { ($0.id, $0.agreementKey) }, by: author, of: group,
            crypto)
    }

    private func requireMember(_ device: DeviceKeys) throws(StorageError) {
        guard state.member(device.id) == nil else { return }
        throw StorageError(
            .permissionDenied, "this device, \(device.id), is not a member of the sync group",
            hint: "ask a member for an invitation")
    }

    private func notFound(_ device: DeviceID) -> StorageError {
        StorageError(
            .notFound, "the device \(device) is not a member of the sync group",
            hint: "list them with: ld-host sync devices")
    }
}
