internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import HostSealing
internal import LocalDataAPI
internal import Synchronization

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
