internal import LocalDataAPI
internal import Synchronization

/// A configured store, opened once, at its first use, and never closed. Snapshots with the same configuration of a
/// store share its slot.
final class StoreSlot: Sendable {
    let settings: HostSettings.Store
    private let open: @Sendable () throws(StorageError) -> OpenStore
    private let opened = Mutex<OpenStore?>(nil)

    init(settings: HostSettings.Store, open: @escaping @Sendable () throws(StorageError) -> OpenStore) {
        self.settings = settings
        self.open = open
    }

    /// The open store, if it has been used.
    var current: OpenStore? { opened.withLock { $0 } }

    /// Forgets the keys of an open sealed store. A store that is being opened right now has none yet.
    func forgetKeys() { _ = opened.withLockIfAvailable { $0?.sealing?.forgetKeys() } }

    /// Opens the store if it is not open. May wait; the next call retries after a failure.
    func openIfNeeded() throws(StorageError) -> OpenStore {
        try opened.withLock { opened throws(StorageError) in
            if let store = opened { return store }
            let store = try open()
            opened = store
            return store
        }
    }
}

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
