#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// How a value is protected. A key without a policy gets ``recommended``; plain bytes are written only with ``none``.
public enum SecurityPolicy: Hashable, Sendable {
    /// The plain serialized bytes.
    case none
    /// Sealed by the host before a store sees it.
    case encrypted(EncryptionPolicy)
    /// Released by a keychain under these conditions.
    case keychain(accessibility: KeychainAccessibility, accessControl: KeychainAccessControl? = nil)

    /// ChaCha20-Poly1305 with an HKDF-SHA256 subkey for each record.
    public static let recommended = SecurityPolicy.encrypted(.recommended)
}

extension SecurityPolicy: CustomStringConvertible {
    /// The policy in words, e.g. `encrypted (ChaCha20-Poly1305, HKDF-SHA256)`.
    public var description: String {
        switch self {
        case .none: "none"
        case .encrypted(let policy): "encrypted (\(policy))"
        case .keychain(let accessibility, let control):
            "keychain (\(accessibility.rawValue)\(control.map { ", \($0.rawValue)" } ?? ""))"
        }
    }
}

/// A policy as written in a document: `"none"`, or an object that names the cipher or the keychain's conditions. Salts
/// and other parameters of a derivation belong to the key and are not written.
extension SecurityPolicy: Codable {
    private struct Form: Codable {
        var cipher: String?
        var derivation: String?
        var iterations: Int?
        var source: String?
        var accessibility: KeychainAccessibility?
        var accessControl: KeychainAccessControl?
    }

    /// Reads a policy; an unknown cipher or derivation is an error.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            guard text == "none" else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no policy '\(text)'")
            }
            self = .none
            return
        }
        let form = try container.decode(Form.self)
        if let accessibility = form.accessibility {
            self = .keychain(accessibility: accessibility, accessControl: form.accessControl)
            return
        }
        let derivation: KeyDerivation =
            switch form.derivation {
            case "HKDF-SHA256", nil: .hkdf()
            case "PBKDF2-HMAC-SHA256": .pbkdf2(iterations: form.iterations)
            default: throw DecodingError.dataCorruptedError(in: container, debugDescription: "unknown derivation")
            }
        switch form.cipher {
        case "AES-256-GCM": self = .encrypted(.aes256(keyDerivation: derivation))
        case "ChaCha20-Poly1305":
            self = .encrypted(
                form.source.map { .external(source: KeyMaterialSource(id: $0), keyDerivation: derivation) }
                    ?? .chacha20Poly1305(keyDerivation: derivation))
        default: throw DecodingError.dataCorruptedError(in: container, debugDescription: "unknown cipher")
        }
    }

    /// Writes a policy.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        var form = Form()
        func add(_ derivation: KeyDerivation) {
            switch derivation {
            case .hkdf: form.derivation = "HKDF-SHA256"
            case .pbkdf2(let iterations, _):
                form.derivation = "PBKDF2-HMAC-SHA256"
                form.iterations = iterations
            }
        }
        switch self {
        case .none:
            try container.encode("none")
            return
        case .keychain(let accessibility, let control):
            form.accessibility = accessibility
            form.accessControl = control
        case .encrypted(.aes256(let derivation)):
            form.cipher = "AES-256-GCM"
            add(derivation)
        case .encrypted(.chacha20Poly1305(let derivation)):
            form.cipher = "ChaCha20-Poly1305"
            add(derivation)
        case .encrypted(.external(let source, let derivation)):
            form.cipher = "ChaCha20-Poly1305"
            form.source = source.id
            add(derivation)
        }
        try container.encode(form)
    }
}

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
