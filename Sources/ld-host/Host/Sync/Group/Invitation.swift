internal import FoundationEssentials
internal import HostGround
package import LocalDataAPI

/// An invitation to a group: a secret of 128 random bits, which a member hands to the new device as a code.
///
/// The code lets anybody join in place of the new device until the invitation ends, and opens everything that the group
/// has sealed until then: when it was used, was revoked, or its time is over, the members start an epoch whose key it
/// does not open. The invitation's signing key, agreement key and box key are derived from the secret, and so is its
/// public id, by which the new device finds the invitation's entry in the log.
package struct Invitation: Sendable {
    /// The public id.
    package let id: InvitationID
    /// Ed25519; signs the new device's join.
    let signing: SecretBytes
    /// Its public key, which the invitation's entry names.
    let signingPublicKey: Data
    /// Opens the box in the invitation's entry.
    let boxKey: SecretBytes
    /// X25519; opens the keys of epochs that start while the invitation is open.
    let agreement: SecretBytes
    /// Its public key, which the invitation's entry names, too.
    let agreementPublicKey: Data
    private let secret: SecretBytes

    /// Creates a new invitation.
    init(creatingWith crypto: GroupCrypto) throws(StorageError) {
        try self.init(secret: try crypto.randomKey(SecretCode.secretSize), crypto)
    }

    /// Reads a code.
    ///
    /// - Throws: `invalidOptions` with what is wrong with it.
    package init(code: String, _ crypto: GroupCrypto) throws(StorageError) {
        try self.init(secret: try SecretCode.secret(of: code, "invitation"), crypto)
    }

    private init(secret: SecretBytes, _ crypto: GroupCrypto) throws(StorageError) {
        self.secret = secret
        signing = try crypto.key(from: secret, .invitationSigningKey)
        signingPublicKey = try crypto.signingPublicKey(of: signing)
        boxKey = try crypto.key(from: secret, .invitationBoxKey)
        agreement = try crypto.key(from: secret, .invitationAgreementKey)
        agreementPublicKey = try crypto.agreementPublicKey(of: agreement)
        guard let id = InvitationID(bytes: try crypto.value(InvitationID.size, from: secret, .invitationID)) else {
            throw StorageError(.unknown, "a derived id is too short")
        }
        self.id = id
    }

    /// The code for people: see ``SecretCode``. It is a secret.
    package var code: String { SecretCode.text(of: secret) }
}
