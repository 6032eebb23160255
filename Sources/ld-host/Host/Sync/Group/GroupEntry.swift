internal import FoundationEssentials
internal import LocalDataAPI

/// One signed statement about a group, as ``GroupLog`` keeps it.
///
/// Numbers are big-endian. The signed bytes are
///
///     version 1         1 byte
///     kind              1 byte: 1 genesis, 2 invite, 3 join, 4 remove, 5 rekey, 6 forget, 7 acknowledge,
///                       8 remove with the recovery code
///     group             32 bytes: the group's id; zeros in the genesis
///     author            32 bytes: the Ed25519 public key of the device that says it
///     time              8 bytes: milliseconds since 1970 UTC by the author's clock
///     parents           1 byte: their number; then each one's id, 32 bytes, strictly ascending
///     body              by kind, see ``Body``
///     signatures        64 bytes; of the kinds 3 and 8 128
///
/// The last 64 bytes are the author's Ed25519 signature of all bytes before it. Of the kinds 3 and 8, the 64 bytes
/// before that one are the signature of the invitation's key, or of the group's recovery key, of all bytes before
/// itself. The message that is signed begins with the label of ``GroupLabel``. The entry's id is the hash of all signed
/// bytes, signatures too.
///
/// Parents are all entries that counted for the author and that are no parents of others that did. An entry of whatever
/// time is so *after* another if and only if its author knew that one.
package struct GroupEntry: Sendable {
    static let version: UInt8 = 1
    /// The most parents of an entry; an author with more leaves some out.
    static let mostParents = 64
    /// The most devices that one epoch key is sealed for, and so of a group.
    static let mostDevices = 256
    /// The most bytes of a device's name.
    static let longestName = 128

    package let id: EntryID
    /// The Ed25519 public key of the author.
    let authorKey: Data
    /// The author's id, derived from its key.
    package let author: DeviceID
    let time: UInt64
    let parents: [EntryID]
    let body: Body
    /// What the invitation's key or the recovery key signed, and its signature; `nil` for an entry that needs neither.
    let countersigned: (message: Data, signature: Data)?

    /// What an entry says.
    enum Body: Sendable {
        /// The group exists, with the author as its first member. It starts epoch 0. Body: the profile | the Ed25519
        /// public key of the group's recovery code, 32 bytes.
        case genesis(DeviceProfile, recoveryKey: Data)
        /// A device with the invitation's secret may join.
        case invite(Invite)
        /// The author, a new device, joins. Body: id of the invite's entry, 32 bytes | profile.
        case join(invite: EntryID, DeviceProfile)
        /// A device is no longer a member; a new epoch starts, whose key it does not get. Body: the device's id, 16
        /// bytes | epoch keys. With the recovery code it beats whatever the device did that its author did not know.
        case remove(DeviceID, EpochKeys, withCode: Bool = false)
        /// A new epoch starts. Body: see ``Renewal``.
        case rekey(EpochKeys, Renewal)
        /// A device has been away for too long: it is no member until it joins again. Body: its id, 16 bytes.
        case forget(DeviceID)
        /// The author has taken in all that is before this entry. No body.
        case acknowledge
    }

    /// How a device presents itself when it joins.
    ///
    ///     X25519 public key, 32 bytes | role, 1 byte: 0 all, 1 phone, 2 watch | name, 1 byte for its size, then UTF-8
    ///
    /// A name has 1 to 128 bytes and no control characters.
    struct DeviceProfile: Sendable {
        let agreementKey: Data
        let role: DeviceRole
        let name: String
    }

    /// The body of an invite.
    ///
    ///     Ed25519 public key of the invitation, 32 bytes | its X25519 public key, 32 | its id, 16
    ///     | expiry, 8: milliseconds since 1970 UTC | current epoch of its author, 16
    ///     | hash of the box in the published entry, 32
    struct Invite: Sendable {
        let signingKey: Data
        let agreementKey: Data
        let invitation: InvitationID
        let expiry: UInt64
        let epoch: EpochID
        let boxHash: Data
    }

    /// The key of the epoch that the entry starts, sealed for each device that gets it.
    ///
    ///     ephemeral X25519 public key, 32 bytes | number of devices, 2 bytes
    ///     | for each, ids strictly ascending: id, 16 bytes | box of the key, 81 bytes
    ///
    /// A box is sealed under HKDF-SHA256 of the X25519 shared secret, with the ephemeral public key and the device's
    /// public key as the salt. It authenticates the group's id, the author's key and the device's id.
    ///
    /// A rekey has a second such list, of the invitations that stay open: number, 2 bytes | ids and boxes.
    struct EpochKeys: Sendable {
        static let boxSize = GroupCrypto.boxOverhead + GroupCrypto.size

        let ephemeralKey: Data
        let boxes: [DeviceID: Data]
        let invitationBoxes: [InvitationID: Data]
    }

    /// What a rekey is for.
    ///
    ///     1 byte: 1 if it continues, otherwise 0 | number of ended invitations, 2 bytes
    ///     | for each, strictly ascending: id of the invite's entry, 32 bytes | epoch keys with those of invitations
    struct Renewal: Sendable {
        /// The most invitations that one entry ends; an author with more ends the rest in the next one.
        static let mostEnded = 256

        /// Whether records of the epochs before it go on counting: no device is excluded, but a code is.
        var continues = false
        /// Invites whose codes end: they were revoked, or their time is over.
        var ended: [EntryID] = []
    }

    /// The keys of the epoch that it starts; `nil` if it starts none, or is the genesis.
    var epochKeys: EpochKeys? {
        switch body {
        case .remove(_, let keys, _), .rekey(let keys, _): keys
        case .genesis, .invite, .join, .forget, .acknowledge: nil
        }
    }

    /// The author's profile, if the entry makes it a member.
    var profile: DeviceProfile? {
        switch body {
        case .genesis(let profile, _), .join(_, let profile): profile
        case .invite, .remove, .rekey, .forget, .acknowledge: nil
        }
    }

    /// Whether it removes a device with the recovery code.
    var isWithCode: Bool {
        if case .remove(_, _, withCode: true) = body { true } else { false }
    }

    /// Whether it changes who is a member, so that other members acknowledge it.
    var changesMembers: Bool {
        switch body {
        case .join, .remove: true
        case .genesis, .invite, .rekey, .forget, .acknowledge: false
        }
    }

    /// Whether it says of a device that it is no member any more, or may have ended the invitation of one.
    var takesStanding: Bool {
        switch body {
        case .remove, .forget: true
        case .rekey(_, let renewal): !renewal.ended.isEmpty
        case .genesis, .invite, .join, .acknowledge: false
        }
    }

    /// Whether it starts an epoch.
    var startsEpoch: Bool {
        if case .genesis = body { true } else { epochKeys != nil }
    }

    /// Whether it starts an epoch, and records of the epochs before it count no longer.
    var startsEra: Bool {
        if case .rekey(_, let renewal) = body { !renewal.continues } else { startsEpoch }
    }
}
