/// A function by which two parties agree on a secret. The raw value is its number at the plugin boundary.
public enum KeyAgreement: Int32, CaseIterable, Hashable, Sendable, CustomStringConvertible {
    /// X25519, RFC 7748: private keys, public keys and secrets of 32 bytes.
    case x25519 = 32

    /// The function's name in its standard.
    public var description: String { "X25519" }
}
