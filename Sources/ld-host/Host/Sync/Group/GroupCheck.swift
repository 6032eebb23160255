internal import FoundationEssentials
internal import HostGround
internal import LocalDataAPI

/// Checks what an entry says against the entries before it. The result depends on nothing else, so all devices agree.
struct GroupCheck {
    private let entry: GroupEntry
    private let graph: GroupGraph
    private let crypto: GroupCrypto
    private let known: NumberSet

    /// - Parameter graph: Has all parents of the entry.
    init(_ entry: GroupEntry, in graph: GroupGraph, _ crypto: GroupCrypto) {
        self.entry = entry
        self.graph = graph
        self.crypto = crypto
        known = graph.ancestors(ofEntryAfter: entry.parents)
    }

    /// - Throws: `corrupt` with the rule that the entry breaks; `cannotOpen` if its invitation's key, or the
    ///   recovery key, did not sign it.
    func check() throws(StorageError) {
        if let profile = entry.profile { try checkAgreementKey(profile.agreementKey) }
        switch entry.body {
        case .genesis: return
        case .join(let invite, _): return try checkJoin(under: invite)
        case .invite(let invite):
            try checkAgreementKey(invite.agreementKey)
            guard known.contains(where: { graph.entries[$0].startsEpoch && graph.entries[$0].id.epoch == invite.epoch })
            else { throw GroupEntry.fault("invites to an epoch that its author did not know") }
        case .remove(let device, let keys, let withCode):
            if withCode { try checkRecovery() }
            try checkDevice(device)
            try checkDevices(of: keys)
            guard keys.boxes[device] == nil else { throw GroupEntry.fault("gives a key to the device that it removes") }
            guard device != entry.author || !keys.boxes.isEmpty else {
                throw GroupEntry.fault("removes the last member")
            }
        case .rekey(let keys, let renewal):
            try checkDevices(of: keys)
            for invite in renewal.ended { try checkInvite { $0.id == invite } }
            for invitation in keys.invitationBoxes.keys {
                try checkInvite { entry in
                    if case .invite(let invite) = entry.body { invite.invitation == invitation } else { false }
                }
            }
        case .forget(let device):
            try checkDevice(device)
            guard device != entry.author else { throw GroupEntry.fault("forgets its own author") }
        case .acknowledge: break
        }
        try checkDevice(entry.author)
    }

    private func checkJoin(under invite: EntryID) throws(StorageError) {
        guard let number = graph.number(of: invite), known.contains(number),
            case .invite(let invite) = graph.entries[number].body, let (message, signature) = entry.countersigned
        else { throw GroupEntry.fault("joins without an invitation that precedes it") }
        guard entry.time <= invite.expiry else { throw GroupEntry.fault("joins after its invitation has expired") }
        try crypto.verify(signature, of: message, .joinSignature, with: invite.signingKey)
    }

    /// Checks the signature with the recovery code, for which no parent is needed.
    ///
    /// - Throws: `cannotOpen` if the code did not sign it; `corrupt` without a genesis.
    func checkRecovery() throws(StorageError) {
        guard case .genesis(_, let recoveryKey) = graph.entries.first?.body,
            let (message, signature) = entry.countersigned
        else { throw GroupEntry.fault("removes with the recovery code of a group that has no genesis") }
        try crypto.verify(signature, of: message, .recoverySignature, with: recoveryKey)
    }

    /// A key with which no secret can be agreed on would keep members from starting a new epoch.
    private func checkAgreementKey(_ publicKey: Data) throws(StorageError) {
        let anyKey = try SecretBytes(count: GroupCrypto.size) { (memory) throws(StorageError) in memory[0] = 8 }
        do throws(StorageError) { _ = try crypto.sharedSecret(of: anyKey, with: publicKey) } catch {
            guard error.code == .securityApplicationFailed else { throw error }
            throw GroupEntry.fault("has an X25519 public key of small order")
        }
    }

    private func checkDevices(of keys: GroupEntry.EpochKeys) throws(StorageError) {
        for device in keys.boxes.keys { try checkDevice(device) }
    }

    /// Only invitations that the author knew can be meant.
    private func checkInvite(_ isMeant: (GroupEntry) -> Bool) throws(StorageError) {
        let isKnown = known.contains { number in
            if case .invite = graph.entries[number].body { isMeant(graph.entries[number]) } else { false }
        }
        guard isKnown else { throw GroupEntry.fault("is about an invitation that its author did not know") }
    }

    /// Only devices that the author has seen join can be meant.
    private func checkDevice(_ device: DeviceID) throws(StorageError) {
        guard known.contains(where: { graph.entries[$0].profile != nil && graph.entries[$0].author == device }) else {
            throw GroupEntry.fault("is by or about a device that has not joined before")
        }
    }
}
