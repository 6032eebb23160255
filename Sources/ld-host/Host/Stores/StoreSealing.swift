internal import LocalDataAPI

/// The sealing of one open store: its ring is in the store itself, sealed with the key from its source.
final class StoreSealing: Sendable {
    /// The location of a store's ring in it. The domain cannot be configured, so it never contains an app's values.
    static let place = StorageNamespace(domain: HostSettings.reservedDomains + "keys")
    private static let ringName = "ring"

    let ring: KeyRing
    private let wrapped: WrappedRing
    let style: EnvelopeStyle
    private let crypto: LoadedCrypto

    /// - Parameter file: The path of the ring's lock, without an extension.
    init(
        store: LoadedStore, settings: HostSettings.Sealing, source: KeySource, file: String, keyLength: Int
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
            storage: KeyRing.Storage(
                isLasting: store.properties.isDurable || store.properties.isShared,
                load: { () throws(StorageError) in try wrapped.load() },
                save: { (ring) throws(StorageError) in try wrapped.save(ring) }))
    }

    /// Whether the store has a ring. Needs no key; may wait.
    func hasRing() throws(StorageError) -> Bool { try wrapped.exists() }

    /// Forgets the keys in memory, including the one from the source.
    func forgetKeys() {
        ring.forgetKeys()
        wrapped.forgetKey()
    }

    /// The layer around the values of an address.
    func layer(for address: StorageAddress) -> SealingLayer {
        SealingLayer(
            keys: .ring(ring, named: { [ring] (_) throws(StorageError) in ring }),
            envelope: ring.envelope(of: address, crypto), style: style, limit: .fastOnly)
    }
}
