/// Identifies a configured store across snapshots, so that a store whose configuration is unchanged stays open.
struct SlotKey: Hashable {
    private let store: HostSettings.Store
    /// For stores that are sealed with a key from the keychain.
    private let keychain: HostSettings.Store?
    private let keyLength: Int?
    private let provider: String?

    init(_ store: HostSettings.Store, keychain: HostSettings.Store?, _ settings: HostSettings) {
        self.store = store
        if case .keychain = store.sealing?.source { self.keychain = keychain } else { self.keychain = nil }
        keyLength = store.sealing == nil ? nil : settings.encryption.keyLength
        provider = store.sealing == nil ? nil : settings.encryption.provider
    }
}
