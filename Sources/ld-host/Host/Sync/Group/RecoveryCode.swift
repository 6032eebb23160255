package import FoundationEssentials
internal import HostGround
package import LocalDataAPI

/// A group's recovery code: a secret of 128 random bits, which only the group's owner has, on paper.
///
/// It decides who stays when a device that is in the wrong hands says the same as the devices that are not: a removal
/// with it beats every other one. The genesis has the public key of the signing key that is derived from it; the secret
/// is stored nowhere.
package struct RecoveryCode: Sendable {
    /// Ed25519; signs removals.
    let signing: SecretBytes
    /// Its public key, which the genesis names.
    package let publicKey: Data
    private let secret: SecretBytes

    /// Creates a new code.
    init(creatingWith crypto: GroupCrypto) throws(StorageError) {
        try self.init(secret: try crypto.randomKey(SecretCode.secretSize), crypto)
    }

    /// Reads a code.
    ///
    /// - Throws: `invalidOptions` with what is wrong with it.
    package init(code: String, _ crypto: GroupCrypto) throws(StorageError) {
        try self.init(secret: try SecretCode.secret(of: code, "recovery"), crypto)
    }

    private init(secret: SecretBytes, _ crypto: GroupCrypto) throws(StorageError) {
        self.secret = secret
        signing = try crypto.key(from: secret, .recoverySigningKey)
        publicKey = try crypto.signingPublicKey(of: signing)
    }

    /// The code for people: see ``SecretCode``. It is a secret.
    package var text: String { SecretCode.text(of: secret) }
}
