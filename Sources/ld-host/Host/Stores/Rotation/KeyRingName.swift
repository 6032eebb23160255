internal import LocalDataAPI

/// Selects a key ring.
public enum KeyRingName: Hashable, Sendable {
    /// The master keys, which seal the values of keys with an encryption policy: `encryption.service` and
    /// `encryption.account` of the configuration.
    case master
    /// The keys of a sealed store, by the store's name.
    case store(String)
}
