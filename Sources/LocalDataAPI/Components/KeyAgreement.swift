/// A function by which two parties come to one secret; the number stands for it at the plugin boundary.
public enum KeyAgreement: Int32, CaseIterable, Hashable, Sendable, CustomStringConvertible {
    /// X25519, RFC 7748: private keys, public keys and secrets of 32 bytes.
    case x25519 = 32

    /// The standard's name for it.
    public var description: String { "X25519" }
}
