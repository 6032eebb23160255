/// A function that derives keys. The raw value is its number at the plugin boundary and in envelopes.
public enum KeyDerivationFunction: Int32, CaseIterable, Hashable, Sendable, CustomStringConvertible {
    /// HKDF-SHA256, RFC 5869, extract and expand: for secrets that are already keys. At most 8,160 bytes of output.
    case hkdfSHA256 = 16
    /// PBKDF2-HMAC-SHA256, RFC 8018: for passphrases.
    case pbkdf2HMACSHA256 = 17
    /// Argon2id, RFC 9106: for passphrases; its memory use makes guessing expensive.
    case argon2id = 18
    /// HKDF-SHA512, RFC 5869, extract and expand. At most 16,320 bytes of output.
    case hkdfSHA512 = 19
    /// PBKDF2-HMAC-SHA512, RFC 8018: for passphrases.
    case pbkdf2HMACSHA512 = 20

    /// The function's name in its standard, which configurations use.
    public var description: String {
        switch self {
        case .hkdfSHA256: "HKDF-SHA256"
        case .pbkdf2HMACSHA256: "PBKDF2-HMAC-SHA256"
        case .argon2id: "Argon2id"
        case .hkdfSHA512: "HKDF-SHA512"
        case .pbkdf2HMACSHA512: "PBKDF2-HMAC-SHA512"
        }
    }

    /// Whether it makes guessing passphrases expensive, and so takes at least one iteration or pass.
    package var isSlow: Bool { self != .hkdfSHA256 && self != .hkdfSHA512 }
}
