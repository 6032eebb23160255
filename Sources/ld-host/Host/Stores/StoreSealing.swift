internal import ByteCoding
internal import HostGround
internal import HostPlugins
package import HostSealing
package import LocalDataAPI

/// The sealing of one open store: its ring is in the store itself, sealed with the key from its source.
package final class StoreSealing: Sendable {
    /// The location of a store's ring in it. The domain cannot be configured, so it never contains an app's values.
    static let place = StorageNamespace(domain: HostSettings.reservedDomains + "keys")
    private static let ringName = "ring"

    package let ring: KeyRing
    private let wrapped: WrappedRing
    package let style: EnvelopeStyle
    private let crypto: LoadedCrypto

    /// - Parameters:
    ///   - file: The path of the ring's lock, without an extension.
    ///   - timeout: How long one call of the store may take.
    init(
        store: LoadedStore, settings: HostSettings.Sealing, source: KeySource, file: String, keyLength: Int,
        timeout: Duration
    ) throws(StorageError) {
        style = EnvelopeStyle(settings.cipher)
        crypto = source.crypto
        let address = StorageAddress(Self.place, name: Self.ringName)
        let handle = try store.resolve(address)
        let wrapped = WrappedRing(
            store: store, handle: handle, envelope: Envelope(address, crypto: source.crypto), source: source,
            style: EnvelopeStyle(settings.cipher, settings.derivation))
        self.wrapped = wrapped
        ring = KeyRing(
            name: "the key ring of store '\(source.store)'", headerName: nil, file: file, keyLength: keyLength,
            crypto: source.crypto,
            // The holder of the ring's lock may read the ring, write it, and store a value meanwhile.
            patience: max(.seconds(30), timeout * 3),
            storage: KeyRing.Storage(
                isLasting: store.properties.isDurable || store.properties.isShared, in: store,
                // Not the name of any ring in a keychain, which is changed while this one is locked for writing it.
                lockName: "key ring of the store",
                load: { () throws(StorageError) in try wrapped.load() },
                save: { (ring) throws(StorageError) in try wrapped.save(ring) },
                stamp: { () throws(StorageError) in try wrapped.stamp() }))
    }

    /// Whether a store has a ring. One that waits for a server or for people is not asked, since it opens without it.
    static func hasRing(in store: LoadedStore) throws(StorageError) -> Bool {
        guard store.properties.latency == .disk else { return false }
        let handle = HeldHandle(store, try store.resolve(StorageAddress(place, name: ringName)))
        return try store.exists(handle.handle)
    }

    /// What to say of a store that has a ring and is configured without sealing.
    package static func warning(of name: String) -> String {
        "store '\(name)' has sealed values, and its configuration has no sealing: they cannot be opened, and new values "
            + "are kept plain"
    }

    /// A value that the store has sealed, where it is configured without sealing.
    package static func forgotten(_ name: String, _ what: String) -> StorageError {
        StorageError(
            .securityApplicationFailed, "\(what) is sealed, and store '\(name)' is configured without its sealing",
            hint:
                "configure stores.\(name).sealing as it was, or domains with the store that has it; see: ld-host doctor"
        )
    }

    /// - Throws: `securityApplicationFailed` if the store has lost its ring. Needs no key; may wait.
    package func requireRing() throws(StorageError) { if try !hasRing() { try ring.requireUnused() } }

    /// Whether the store has a ring. Needs no key; may wait.
    package func hasRing() throws(StorageError) -> Bool { try wrapped.exists() }

    /// Forgets the keys in memory, including the one from the source.
    func forgetKeys() {
        ring.forgetKeys()
        wrapped.forgetKey()
    }

    /// The layer around the values of an address.
    package func layer(for address: StorageAddress) -> SealingLayer {
        SealingLayer(
            keys: .ring(ring, named: { [ring] (_) throws(StorageError) in ring }),
            envelope: ring.envelope(of: address, crypto), style: style, limit: .fastOnly)
    }
}

extension HostSettings.Sealing.Source {
    /// Which attackers a store's sealing with a local key protects against, and which it does not.
    package var protection: String {
        switch self {
        case .keyFile(let path):
            "the key file '\(path)' protects against anyone who gets the values without it, such as another user or "
                + "the finder of a copy of only the data; not against programs of this user, root, or anyone who "
                + "gets both"
        case .terminal, .descriptor:
            "the passphrase protects against anyone who gets the disk or a copy but cannot guess it; not against "
                + "programs of this user or root while it is in use"
        case .credential:
            "the credential protects against anyone who gets the values without systemd's copy of it; not against "
                + "this service or root"
        case .keychain: "its key is as safe as the store of the keychain domain"
        case .provider(let id):
            "the provider '\(id)' protects as well as it keeps its key; not against programs of this user or root "
                + "while it is in use"
        }
    }
}
