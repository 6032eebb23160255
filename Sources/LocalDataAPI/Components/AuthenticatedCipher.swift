/// An authenticated cipher (AEAD), with the sizes in bytes that its standard gives it.
public struct AuthenticatedCipher: Hashable, Sendable, CustomStringConvertible {
    /// The number that stands for it at the plugin boundary and in envelopes; never used for another one.
    public let id: Int32
    /// The standard's name for it, which configurations use.
    public let name: String
    /// Bytes of a key.
    public let keySize: Int
    /// Bytes of a nonce.
    public let nonceSize: Int
    /// Bytes of a tag.
    public let tagSize: Int
    /// The most bytes of plaintext under one nonce.
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

    /// Ciphers are told apart by their numbers.
    public static func == (left: Self, right: Self) -> Bool { left.id == right.id }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// The name.
    public var description: String { name }
}

extension AuthenticatedCipher {
    /// The cipher of a number; `nil` for one that this version does not know.
    ///
    /// On the way of every call at the boundary, so it neither searches nor counts references.
    package init?(id: Int32) {
        switch id {
        case 1: self = .aes256GCM
        case 2: self = .chaCha20Poly1305
        case 3: self = .xChaCha20Poly1305
        default: return nil
        }
    }
}
