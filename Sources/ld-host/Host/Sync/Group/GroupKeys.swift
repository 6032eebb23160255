internal import FoundationEssentials
package import HostGround
package import LocalDataAPI

/// What a member of a group knows, beside its own ``DeviceKeys``: the group's secret, and the keys of epochs.
///
/// The group's secret never changes, so a device that was removed still knows what is derived from it: it can read the
/// log and compute the names of records. It gets no key of a later epoch, and so opens no later record.
///
/// Encoded, for the keychain and for invitations: version 1, 1 byte | group's id, 32 bytes | group's secret, 32 bytes
/// | number of epochs, 2 bytes | for each, ids ascending: id, 16 bytes | key, 32 bytes.
package struct GroupKeys: Sendable {
    private static let version: UInt8 = 1
    /// The most epochs of a group. Their keys fit into one invitation.
    static let mostEpochs = 1024

    /// The group's id.
    package let group: EntryID
    /// The group's secret.
    private let secret: SecretBytes
    private var epochs: [EpochID: SecretBytes]
    /// Seals entries of the log; derived from the group's secret.
    let logKey: SecretBytes
    /// For ``RecordSealer/name(of:)``; derived from the group's secret.
    let nameKey: SecretBytes
    /// For ``RecordSealer/hash(of:)``; derived from the group's secret.
    let hashKey: SecretBytes

    /// The keys of a group, as its first member or a log makes them.
    init(
        group: EntryID, secret: SecretBytes, epochs: [EpochID: SecretBytes], _ crypto: GroupCrypto
    ) throws(StorageError) {
        self.group = group
        self.secret = secret
        self.epochs = epochs
        logKey = try Self.logKey(of: secret, crypto)
        nameKey = try crypto.key(from: secret, .nameKey)
        hashKey = try crypto.key(from: secret, .hashKey)
    }

    /// The key that seals the log of a group with this secret.
    static func logKey(of secret: SecretBytes, _ crypto: GroupCrypto) throws(StorageError) -> SecretBytes {
        try crypto.key(from: secret, .logKey)
    }

    /// The epochs whose keys are known.
    package var knownEpochs: Set<EpochID> { Set(epochs.keys) }

    /// The key that seals the records of an epoch; `nil` if the epoch's key is not known.
    func recordKey(of epoch: EpochID, _ crypto: GroupCrypto) throws(StorageError) -> SecretBytes? {
        guard let key = epochs[epoch] else { return nil }
        return try crypto.key(from: key, .recordKey)
    }
}

// MARK: - Encoding

extension GroupKeys {
    /// Decodes keys.
    ///
    /// - Throws: `corrupt` if they are none of this version.
    package init(decoding bytes: SecretBytes, _ crypto: GroupCrypto) throws(StorageError) {
        var reader = SecretReader(bytes)
        guard try reader.byte() == Self.version, let group = EntryID(try reader.bytes(EntryID.size)) else {
            throw StorageError(
                .corrupt, "the keys of a sync group are damaged or of a later version",
                hint: "update LocalData, or join the group again")
        }
        let secret = try reader.secret(GroupCrypto.size)
        let number = try reader.bytes(2)
        var epochs: [EpochID: SecretBytes] = [:]
        for _ in 0..<(Int(number[0]) << 8 | Int(number[1])) {
            guard let id = EpochID(bytes: try reader.bytes(EpochID.size)) else { continue }
            epochs[id] = try reader.secret(GroupCrypto.size)
        }
        guard reader.isAtEnd else {
            throw StorageError(.corrupt, "the keys of a sync group are longer than their form")
        }
        try self.init(group: group, secret: secret, epochs: epochs, crypto)
    }

    /// The encoded keys.
    package func encoded() throws(StorageError) -> SecretBytes {
        var parts: [SecretWriter.Part] = [
            .bytes([Self.version] + group.bytes), .secret(secret),
            .bytes([UInt8(epochs.count >> 8), UInt8(truncatingIfNeeded: epochs.count)]),
        ]
        for (id, key) in epochs.sorted(by: { $0.key < $1.key }) { parts += [.bytes(id.bytes), .secret(key)] }
        return try SecretWriter.secret(of: parts)
    }

    /// The box for the device that an invitation is for.
    func box(for invitation: Invitation, _ crypto: GroupCrypto) throws(StorageError) -> Data {
        try encoded().withBytes { (keys) throws(StorageError) in
            try crypto.seal(
                keys, .invitationBox, with: invitation.boxKey, authenticating: Data(invitation.id.bytes))
        }
    }

    /// The keys in an invitation's box.
    init(
        opening box: PublishedEntry.InvitationBox, with invitation: Invitation, _ crypto: GroupCrypto
    ) throws(StorageError) {
        let keys = try crypto.openSecret(
            box.box, .invitationBox, with: invitation.boxKey, authenticating: Data(invitation.id.bytes))
        try self.init(decoding: keys, crypto)
    }
}

// MARK: - Keys of epochs

extension GroupKeys {
    /// These keys with those of the epochs that entries of the log start which count, as far as they are sealed for the
    /// device.
    ///
    /// A box that does not open is left out: its author made it wrongly, and ``GroupState/needsRekey`` does not know.
    /// Compare ``knownEpochs`` with the state's epoch.
    package func opening(_ log: GroupLog, with device: DeviceKeys) throws(StorageError) -> GroupKeys {
        try opening(log, as: device) { $0.boxes[device.id] }
    }

    /// The same with those that are sealed for an invitation that stayed open when they started.
    func opening(_ log: GroupLog, with invitation: Invitation) throws(StorageError) -> GroupKeys {
        try opening(log, as: invitation) { $0.invitationBoxes[invitation.id] }
    }

    private func opening(
        _ log: GroupLog, as receiver: some KeyReceiver, _ box: (GroupEntry.EpochKeys) -> Data?
    ) throws(StorageError) -> GroupKeys {
        var result = self
        for (number, entry) in log.graph.entries.enumerated() where epochs[entry.id.epoch] == nil {
            // A removed device can seal any number of keys for members, and would fill their room.
            guard log.valid.contains(number), let keys = entry.epochKeys, let box = box(keys),
                result.epochs.count < Self.mostEpochs
            else { continue }
            do throws(StorageError) {
                result.epochs[entry.id.epoch] = try keys.key(
                    in: box, by: entry.authorKey, of: group, receiver, log.crypto)
            } catch {
                guard error.code == .cannotOpen || error.code == .securityApplicationFailed else { throw error }
            }
        }
        return result
    }
}

/// Who has an X25519 key for which the keys of epochs are sealed: a device, or an invitation that stays open.
protocol KeyReceiver {
    associatedtype ID: SyncIdentifier

    var id: ID { get }
    var agreement: SecretBytes { get }
    var agreementPublicKey: Data { get }
}

extension DeviceKeys: KeyReceiver {}
extension Invitation: KeyReceiver {}

extension GroupEntry.EpochKeys {
    /// Seals a new key for devices, and for invitations, each given with its X25519 public key.
    init(
        sealing key: SecretBytes, for devices: [(id: DeviceID, agreementKey: Data)],
        and invitations: [(id: InvitationID, agreementKey: Data)] = [], by device: DeviceKeys, of group: EntryID,
        _ crypto: GroupCrypto
    ) throws(StorageError) {
        let ephemeral = try crypto.randomKey()
        let ephemeralKey = try crypto.agreementPublicKey(of: ephemeral)
        func box(for id: [UInt8], _ agreementKey: Data) throws(StorageError) -> Data {
            let shared = try crypto.sharedSecret(of: ephemeral, with: agreementKey)
            let boxKey = try crypto.key(from: shared, .sharedKey, salt: ephemeralKey + agreementKey)
            return try key.withBytes { (key) throws(StorageError) in
                try crypto.seal(
                    key, .epochBox, with: boxKey, authenticating: group.bytes + device.signingPublicKey + Data(id))
            }
        }
        var (boxes, invitationBoxes) = ([DeviceID: Data](), [InvitationID: Data]())
        for (id, agreementKey) in devices { boxes[id] = try box(for: id.bytes, agreementKey) }
        for (id, agreementKey) in invitations { invitationBoxes[id] = try box(for: id.bytes, agreementKey) }
        self.init(ephemeralKey: ephemeralKey, boxes: boxes, invitationBoxes: invitationBoxes)
    }

    /// Opens the receiver's own box.
    fileprivate func key(
        in box: Data, by author: Data, of group: EntryID, _ receiver: some KeyReceiver, _ crypto: GroupCrypto
    ) throws(StorageError) -> SecretBytes {
        let shared = try crypto.sharedSecret(of: receiver.agreement, with: ephemeralKey)
        let boxKey = try crypto.key(from: shared, .sharedKey, salt: ephemeralKey + receiver.agreementPublicKey)
        return try crypto.openSecret(
            box, .epochBox, with: boxKey, authenticating: group.bytes + author + Data(receiver.id.bytes))
    }
}
