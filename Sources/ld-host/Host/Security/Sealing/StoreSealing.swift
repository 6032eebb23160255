internal import FoundationEssentials
internal import LocalDataAPI
internal import Synchronization

/// How one open store is sealed: its ring, which lies in the store itself, sealed with the key of its source.
final class StoreSealing: Sendable {
    /// Where a store's ring lies in it. The domain cannot be configured, so no value of an app's gets there.
    static let place = StorageNamespace(domain: reservedDomains + "keys")
    private static let ringName = "ring"
    /// What the domains start with that the host keeps for itself.
    static let reservedDomains = "localdata."

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
                load: { () throws(StorageError) in try wrapped.load() },
                save: { (ring) throws(StorageError) in try wrapped.save(ring) }))
    }

    /// Whether there is a ring. Needs no key; may wait.
    func hasRing() throws(StorageError) -> Bool { try wrapped.exists() }

    /// Forgets the keys that are in memory, and the one from the source.
    func forgetKeys() {
        ring.forgetKeys()
        wrapped.forgetKey()
    }

    /// The layer around the values of an address.
    func layer(for address: StorageAddress) -> SealingLayer {
        SealingLayer(
            keys: .ring(ring, named: { [ring] (_) throws(StorageError) in ring }),
            envelope: Envelope(address, crypto: crypto), style: style)
    }
}

/// A ring in an envelope whose key comes from a source. The handle is never released: the ring lives as long as its store.
private final class WrappedRing: Sendable {
    private let store: LoadedStore
    private let handle: StoreHandle
    private let envelope: Envelope
    private let source: KeySource
    private let style: EnvelopeStyle
    /// The key, once it has been asked for and opened a ring: nobody is asked twice.
    private let key = Mutex<EnvelopeKey?>(nil)

    init(
        store: LoadedStore, handle: StoreHandle, envelope: Envelope, source: KeySource, style: EnvelopeStyle
    ) {
        self.store = store
        self.handle = handle
        self.envelope = envelope
        self.source = source
        self.style = style
    }

    func forgetKey() { key.withLock { $0 = nil } }

    func exists() throws(StorageError) -> Bool { try store.exists(handle) }

    func load() throws(StorageError) -> SecretBytes? {
        guard let sealed = try store.get(handle) else { return nil }
        if let known = key.withLock({ $0 }) {
            if let ring = try? open(sealed, known) { return ring }
        }
        guard let material = try source.existing() else { throw source.missing }
        let found = EnvelopeKey(material)
        let ring = try open(sealed, found)
        key.withLock { $0 = found }
        return ring
    }

    private func open(_ sealed: Data, _ key: EnvelopeKey) throws(StorageError) -> SecretBytes {
        var opened: Data
        do throws(StorageError) {
            opened = try envelope.open(sealed, find: { (_) throws(StorageError) in key }).value
        } catch {
            guard error.code == .cannotOpen else { throw error }
            throw StorageError(
                .cannotOpen,
                "the key ring of store '\(source.store)' cannot be opened: \(source.source) is not the one that sealed "
                    + "it, or the ring was changed; everything stays as it is",
                hint: "give the right key or passphrase, or restore the ring from a backup")
        }
        defer { opened.resetBytes(in: 0..<opened.count) }
        return try opened.withBuffer { (bytes) throws(StorageError) in try SecretBytes(copying: bytes) }
    }

    func save(_ ring: SecretBytes) throws(StorageError) {
        let key: EnvelopeKey
        if let known = self.key.withLock({ $0 }) {
            key = known
        } else if let found = try source.existing() {
            key = EnvelopeKey(found)
        } else {
            // A ring that is there was opened before it is changed, so there is none, and its key may be made.
            key = EnvelopeKey(try source.make())
        }
        var plain = Data(ring.bytes)
        defer { plain.resetBytes(in: 0..<plain.count) }
        try store.set(handle, to: envelope.seal(plain, under: key, as: style), attributes: nil)
        self.key.withLock { $0 = key }
    }
}
