#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Supplies key material from outside, for `SecurityPolicy.EncryptionPolicy.external`.
public protocol KeyMaterialProviding: Sendable {
    /// The key material for a key: at least 16 bytes, always the same for the same name.
    func keyMaterial(for keyName: String) async throws -> Data
}
