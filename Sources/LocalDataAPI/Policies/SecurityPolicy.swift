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
