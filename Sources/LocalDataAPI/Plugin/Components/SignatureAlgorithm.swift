/// A signature algorithm. The raw value is its number at the plugin boundary.
public enum SignatureAlgorithm: Int32, CaseIterable, Hashable, Sendable, CustomStringConvertible {
    /// Ed25519, RFC 8032: private and public keys of 32 bytes, signatures of 64 bytes.
    case ed25519 = 33

    /// The algorithm's name in its standard.
    public var description: String { "Ed25519" }
}
