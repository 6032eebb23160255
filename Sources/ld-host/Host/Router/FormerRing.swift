public import HostStores
internal import LocalDataAPI

/// A key ring, or the key of a store's ring, that the host created in the keychain and that the configuration no longer
/// names.
public struct FormerRing: Sendable {
    /// The keychain service.
    public let service: String
    /// The service's account.
    public let account: String
    /// Whether it is the key of a sealed store rather than a ring.
    public let isStoreKey: Bool
    /// The ring's keys; empty for a store's key.
    public let keys: [KeyDescription]
}
