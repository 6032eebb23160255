/// An authenticated cipher (AEAD), with the sizes in bytes that its standard defines.
public struct AuthenticatedCipher: Hashable, Sendable, CustomStringConvertible {
    /// The cipher's number at the plugin boundary and in envelopes; never reused for another cipher.
    public let id: Int32
    /// The cipher's name in its standard, which configurations use.
    public let name: String
    /// The key size in bytes.
    public let keySize: Int
    /// The nonce size in bytes.
    public let nonceSize: Int
    /// The tag size in bytes.
    public let tagSize: Int
    /// The most plaintext bytes under one nonce.
    public let largestPlaintext: UInt64

    @inline(__always)
    private init(
        id: Int32, name: String, keySize: Int, nonceSize: Int, tagSize: Int, largestPlaintext: UInt64
    ) {
        self.id = id
        self.name = name
        self.keySize = keySize
        self.nonceSize = nonceSize
        self.tagSize = tagSize
        self.largestPlaintext = largestPlaintext
    }

    /// AES-256-GCM, NIST SP 800-38D.
    public static var aes256GCM: AuthenticatedCipher {
        AuthenticatedCipher(
            id: 1, name: "AES-256-GCM", keySize: 32, nonceSize: 12, tagSize: 16, largestPlaintext: (1 << 36) - 32)
    }
    /// ChaCha20-Poly1305, RFC 8439.
    public static var chaCha20Poly1305: AuthenticatedCipher {
        AuthenticatedCipher(
            id: 2, name: "ChaCha20-Poly1305", keySize: 32, nonceSize: 12, tagSize: 16, largestPlaintext: (1 << 38) - 64)
    }
    /// XChaCha20-Poly1305, draft-irtf-cfrg-xchacha-03.
    public static var xChaCha20Poly1305: AuthenticatedCipher {
        AuthenticatedCipher(
            id: 3, name: "XChaCha20-Poly1305", keySize: 32, nonceSize: 24, tagSize: 16, largestPlaintext: (1 << 38) - 64
        )
    }

    /// Every cipher that this version knows.
    public static let all = [aes256GCM, chaCha20Poly1305, xChaCha20Poly1305]

    /// Two ciphers are equal if their numbers are.
    public static func == (left: Self, right: Self) -> Bool { left.id == right.id }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// The name.
    public var description: String { name }
}

extension AuthenticatedCipher {
    /// The cipher with this number; `nil` if this version does not know it.
    ///
    /// Every call at the boundary uses it, so it neither searches nor counts references.
    package init?(id: Int32) {
        switch id {
        case 1: self = .aes256GCM
        case 2: self = .chaCha20Poly1305
        case 3: self = .xChaCha20Poly1305
        default: return nil
        }
    }
}
