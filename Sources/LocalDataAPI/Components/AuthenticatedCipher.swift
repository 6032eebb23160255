/// An authenticated cipher, with the sizes that its standard gives it.
public struct AuthenticatedCipher: Hashable, Sendable {
    /// The standard's name for it, which envelopes and configurations use.
    public let name: String
    /// Bytes of a key.
    public let keySize: Int
    /// Bytes of a nonce.
    public let nonceSize: Int
    /// Bytes of a tag.
    public let tagSize: Int

    private init(name: String, keySize: Int, nonceSize: Int, tagSize: Int) {
        self.name = name
        self.keySize = keySize
        self.nonceSize = nonceSize
        self.tagSize = tagSize
    }

    /// AES-256-GCM, NIST SP 800-38D.
    public static let aes256GCM = AuthenticatedCipher(name: "AES-256-GCM", keySize: 32, nonceSize: 12, tagSize: 16)
    /// ChaCha20-Poly1305, RFC 8439.
    public static let chaCha20Poly1305 = AuthenticatedCipher(
        name: "ChaCha20-Poly1305", keySize: 32, nonceSize: 12, tagSize: 16)
    /// XChaCha20-Poly1305, draft-irtf-cfrg-xchacha.
    public static let xChaCha20Poly1305 = AuthenticatedCipher(
        name: "XChaCha20-Poly1305", keySize: 32, nonceSize: 24, tagSize: 16)
}
