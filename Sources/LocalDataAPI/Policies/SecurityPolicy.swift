/// How a value is protected. A key that says nothing gets ``recommended``; plain bytes are written only for a key that
/// says ``none``.
public enum SecurityPolicy: Hashable, Sendable {
    /// The serialized bytes as they are.
    case none
    /// Sealed by the host before a store sees it.
    case encrypted(EncryptionPolicy)
    /// Released by a keychain under these conditions.
    case keychain(accessibility: KeychainAccessibility, accessControl: KeychainAccessControl? = nil)

    /// ChaCha20-Poly1305 with a subkey by HKDF-SHA256 for each record.
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
