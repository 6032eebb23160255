internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI
internal import Synchronization

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
    static func warning(of name: String) -> String {
        "store '\(name)' has sealed values, and its configuration has no sealing: they cannot be opened, and new values "
            + "are kept plain"
    }

    /// A value that the store has sealed, where it is configured without sealing.
    static func forgotten(_ name: String, _ what: String) -> StorageError {
        StorageError(
            .securityApplicationFailed, "\(what) is sealed, and store '\(name)' is configured without its sealing",
            hint:
                "configure stores.\(name).sealing as it was, or domains with the store that has it; see: ld-host doctor"
        )
    }

    /// - Throws: `securityApplicationFailed` if the store has lost its ring. Needs no key; may wait.
    func requireRing() throws(StorageError) { if try !hasRing() { try ring.requireUnused() } }

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

/// A ring in an envelope whose key comes from a source. The handle is never released: the ring lives as long as its
/// store.
final class WrappedRing: Sendable {
    /// The last ring that was opened, with its key.
    private struct Known {
        let key: EnvelopeKey
        let sealed: Data
        let ring: SecretBytes
    }

    private let store: LoadedStore
    private let handle: StoreHandle
    private let envelope: Envelope
    private let source: KeySource
    private let style: EnvelopeStyle
    /// Avoids asking again for a key that has opened the ring, and repeating a slow derivation.
    private let known = Mutex<Known?>(nil)
    /// Locked while the source is asked: of several threads that need the key, one asks, and the others find it.
    private let asking = Mutex<Void>(())

    init(
        store: LoadedStore, handle: StoreHandle, envelope: Envelope, source: KeySource, style: EnvelopeStyle
    ) {
        self.store = store
        self.handle = handle
        self.envelope = envelope
        self.source = source
        self.style = style
    }

    func exists() throws(StorageError) -> Bool { try store.exists(handle) }

    /// A number that each `save` changes, since each seals with a salt of its own.
    func stamp() throws(StorageError) -> UInt64? { try store.get(handle).map { StableHash.of($0) } }

    func forgetKey() { known.withLock { $0 = nil } }

    func load() throws(StorageError) -> SecretBytes? {
        guard let sealed = try store.get(handle) else { return nil }
        if let ring = openAtOnce(sealed) { return ring }
        return try asking.withLock { _ throws(StorageError) in
            if let ring = openAtOnce(sealed) { return ring }
            return try open(sealed) { () throws(StorageError) in
                guard let material = try source.existing() else { throw source.missing }
                return EnvelopeKey(material)
            }
        }
    }

    /// Called with the ring's lock held exclusively, after `load`.
    func save(_ ring: SecretBytes) throws(StorageError) {
        let key: EnvelopeKey
        if let known = known.withLock({ $0?.key }) {
            key = known
        } else {
            try envelope.requireAlgorithms(of: style)
            // An existing ring was opened before it is changed. So this one is new, and its key may be created.
            key = try asking.withLock { _ throws(StorageError) in EnvelopeKey(try source.first()) }
        }
        var plain = ring.withBytes { Data($0) }
        defer { plain.resetBytes(in: 0..<plain.count) }
        let sealed = try envelope.seal(plain, under: key, as: style)
        try store.set(handle, to: sealed, attributes: nil)
        known.withLock { $0 = Known(key: key, sealed: sealed, ring: ring) }
    }

    /// The ring, if it is the last one that was opened, or the same key opens it.
    private func openAtOnce(_ sealed: Data) -> SecretBytes? {
        guard let known = known.withLock({ $0 }) else { return nil }
        return known.sealed == sealed ? known.ring : try? open(sealed) { known.key }
    }

    /// Opens the ring with a key that is requested only once the ring's header is known.
    private func open(
        _ sealed: Data, _ find: () throws(StorageError) -> EnvelopeKey
    ) throws(StorageError) -> SecretBytes {
        let limit = DerivationLimit(style.derivation)
        var (opened, key) = (Data(), EnvelopeKey?.none)
        do throws(StorageError) {
            opened = try envelope.open(sealed) { (header) throws(StorageError) in
                try limit.check(header.derivation, at: envelope.context.address)
                let found = try find()
                key = found
                return found
            }.value
        } catch {
            // If no key was requested, the caller gets the original error, even a provider's, unless the header is
            // unreadable.
            guard error.code == .cannotOpen, key != nil || (try? envelope.header(of: sealed)) == nil else {
                throw error
            }
            throw StorageError(
                .cannotOpen,
                "the key ring of store '\(source.store)' cannot be opened: \(source.source) is not the one that sealed "
                    + "it, or the ring was changed; everything stays as it is",
                hint: "give the right key or passphrase, or \(KeySource.whenLost)")
        }
        defer { opened.resetBytes(in: 0..<opened.count) }
        let ring = try opened.withBuffer { (bytes) throws(StorageError) in try SecretBytes(copying: bytes) }
        if let key { known.withLock { $0 = Known(key: key, sealed: sealed, ring: ring) } }
        return ring
    }
}
