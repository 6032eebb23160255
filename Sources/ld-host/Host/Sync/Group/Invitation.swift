internal import FoundationEssentials
package import LocalDataAPI

/// An invitation to a group: a secret of 128 random bits, which a member hands to the new device as a code.
///
/// Whoever knows the code can join in place of the new device until the invitation ends, and opens everything that the
/// group has sealed so far. The invitation's signing key and box key are derived from the secret, and so is its public
/// id, by which the new device finds the invitation's entry in the log.
package struct Invitation: Sendable {
    /// The public id.
    package let id: InvitationID
    /// Ed25519; signs the new device's join.
    let signing: SecretBytes
    /// Its public key, which the invitation's entry names.
    let signingPublicKey: Data
    /// Opens the box in the invitation's entry.
    let boxKey: SecretBytes
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
        guard let id = InvitationID(bytes: try crypto.value(InvitationID.size, from: secret, .invitationID)) else {
            throw StorageError(.unknown, "a derived id is too short")
        }
        self.id = id
    }

    /// The code for people: see ``SecretCode``. It is a secret.
    package var code: String { SecretCode.text(of: secret) }
}
