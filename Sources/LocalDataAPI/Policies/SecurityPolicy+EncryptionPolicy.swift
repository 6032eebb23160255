public import FoundationEssentials

extension SecurityPolicy {
    /// Which cipher seals a value, and where its key comes from.
    public enum EncryptionPolicy: Hashable, Sendable {
        /// AES-256-GCM (NIST SP 800-38D).
        case aes256(keyDerivation: KeyDerivation = .hkdf())
        /// ChaCha20-Poly1305 (RFC 8439).
        case chacha20Poly1305(keyDerivation: KeyDerivation = .hkdf())
        /// ChaCha20-Poly1305 with key material from a registered provider.
        case external(source: KeyMaterialSource, keyDerivation: KeyDerivation = .hkdf())

        /// ChaCha20-Poly1305 with HKDF-SHA256.
        public static let recommended = EncryptionPolicy.chacha20Poly1305(keyDerivation: .hkdf())
    }

    /// How a record's key is derived from the master key.
    public enum KeyDerivation: Hashable, Sendable {
        /// PBKDF2-HMAC-SHA256 (RFC 8018). `iterations` is at least 1; `nil` for the configured count. `salt` is random
        /// for each record if `nil`.
        case pbkdf2(iterations: Int? = nil, salt: Data? = nil)
        /// HKDF-SHA256 (RFC 5869). `salt` is random for each record if `nil`.
        case hkdf(salt: Data? = nil, info: Data? = nil)
    }
}

extension SecurityPolicy.EncryptionPolicy: CustomStringConvertible {
    /// Cipher and key derivation in words.
    public var description: String {
        switch self {
        case .aes256(let derivation): "AES-256-GCM, \(derivation)"
        case .chacha20Poly1305(let derivation): "ChaCha20-Poly1305, \(derivation)"
        case .external(let source, let derivation): "ChaCha20-Poly1305, key from '\(source.id)', \(derivation)"
        }
    }
}

extension SecurityPolicy.KeyDerivation: CustomStringConvertible {
    /// The function in words; never a salt.
    public var description: String {
        switch self {
        case .pbkdf2(let iterations, _): "PBKDF2-HMAC-SHA256\(iterations.map { " x \($0)" } ?? "")"
        case .hkdf: "HKDF-SHA256"
        }
    }
}
