internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

extension GroupEntry {
    /// The signed bytes of an entry: see ``GroupEntry``.
    ///
    /// - Parameters:
    ///   - group: `nil` for a genesis.
    ///   - parents: The most important first: what is too much is left out.
    ///   - invitation: Signs a join, too.
    ///   - code: Signs a removal, too.
    static func signed(
        _ body: Body, of group: EntryID?, by device: DeviceKeys, at time: UInt64, after parents: [EntryID],
        invitation: Invitation? = nil, code: RecoveryCode? = nil, _ crypto: GroupCrypto
    ) throws(StorageError) -> Data {
        let parents = parents.prefix(mostParents).sorted()
        var writer = ByteWriter(.bigEndian)
        writer.add(version)
        writer.add(body.kind.rawValue)
        writer.add(group?.bytes ?? Data(count: EntryID.size))
        writer.add(device.signingPublicKey)
        writer.add(time)
        writer.add(UInt8(parents.count))
        for parent in parents { writer.add(parent.bytes) }
        writer.add(body)
        var bytes = Data(writer.bytes)
        if let invitation { bytes += try crypto.sign(bytes, .joinSignature, with: invitation.signing) }
        if let code { bytes += try crypto.sign(bytes, .recoverySignature, with: code.signing) }
        return bytes + (try crypto.sign(bytes, .entrySignature, with: device.signing))
    }
}

extension GroupEntry.Body {
    var kind: GroupEntry.Kind {
        switch self {
        case .genesis: .genesis
        case .invite: .invite
        case .join: .join
        case .remove(_, _, let withCode): withCode ? .removeWithCode : .remove
        case .rekey: .rekey
        case .forget: .forget
        case .acknowledge: .acknowledge
        }
    }
}

extension ByteWriter {
    fileprivate mutating func add(_ body: GroupEntry.Body) {
        switch body {
        case .genesis(let profile, let recoveryKey):
            add(profile)
            add(recoveryKey)
        case .invite(let invite):
            add(invite.signingKey)
            add(invite.agreementKey)
            add(invite.invitation.bytes)
            add(invite.expiry)
            add(invite.epoch.bytes)
            add(invite.boxHash)
        case .join(let invite, let profile):
            add(invite.bytes)
            add(profile)
        case .remove(let device, let keys, _):
            add(device.bytes)
            add(keys)
        case .rekey(let keys, let renewal):
            add(UInt8(renewal.continues ? 1 : 0))
            add(UInt16(renewal.ended.count))
            for invite in renewal.ended.sorted() { add(invite.bytes) }
            add(keys)
            add(keys.invitationBoxes)
        case .forget(let device): add(device.bytes)
        case .acknowledge: break
        }
    }

    private mutating func add(_ profile: GroupEntry.DeviceProfile) {
        add(profile.agreementKey)
        add(profile.role.number)
        add(UInt8(profile.name.utf8.count))
        add(profile.name.utf8)
    }

    private mutating func add(_ keys: GroupEntry.EpochKeys) {
        add(keys.ephemeralKey)
        add(keys.boxes)
    }

    private mutating func add(_ boxes: [some SyncIdentifier: Data]) {
        add(UInt16(boxes.count))
        for (id, box) in boxes.sorted(by: { $0.key < $1.key }) {
            add(id.bytes)
            add(box)
        }
    }
}
