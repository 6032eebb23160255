package import FoundationEssentials
internal import HostGround
package import HostPlugins
package import LocalDataAPI
package import Synchronization

/// A key resolved with one snapshot of the configuration: an open store, a handle in it, and the results of checks.
package final class ResolvedKey: Sendable {
    package let open: OpenStore
    package let store: LoadedStore
    package let handle: StoreHandle
    /// Reads the value.
    package let reader: StoreReader
    package let address: StorageAddress
    /// The layers of sealing around the key's values, innermost first.
    package let layers: [SealingLayer]
    /// The attributes to keep beside the key's values, but for their expiry; `nil` for stores that keep none.
    private let fixedAttributes: ValueAttributes?
    /// How long the key's values stay, in nanoseconds.
    private let lifetime: Int64?
    /// Why values can be neither read nor written here, if they cannot.
    package let refusal: StorageError?
    /// Whether bytes that begin as an envelope does are no value of the key: values of a declared key may be any bytes.
    let recognizesSeals: Bool
    /// Whether `get` and `exists` may be called immediately, on the caller's thread.
    package let readsInline: Bool
    /// Whether a write at the location of the key's value has been recorded; see ``PlaceHistory``.
    package let isNoted = Atomic(false)
    /// Whether any use of the key at this location has been recorded.
    package let isUsed = Atomic(false)
    /// Whether the location may have an older value than another, or one of another owner's key.
    package let isDoubtful: Bool
    /// Whether older data is superseded if the key's value was set; see ``Supersession``. From then on, only others can
    /// put older data there.
    package let isSettled = Atomic(false)
    /// Whether a value in quarantine was tried again, and put back if a version reads it now.
    package let isPutBack = Atomic(false)
    /// Whether a value that was stored with its version's tag was found without one: a store has attributes, but the
    /// file system below it may have none.
    package let losesTags = Atomic(false)

    package init(
        open: OpenStore, handle: StoreHandle, address: StorageAddress, layers: [SealingLayer],
        attributes: ValueAttributes?, lifetime: Duration? = nil, refusal: StorageError?, isDoubtful: Bool = false,
        recognizesSeals: Bool = false
    ) {
        self.open = open
        self.store = open.store
        self.handle = handle
        reader = open.store.reader(of: handle)
        self.address = address
        self.layers = layers
        fixedAttributes = attributes
        self.lifetime = lifetime.map { Int64(clamping: $0.nanoseconds) }
        self.refusal = refusal
        self.isDoubtful = isDoubtful
        self.recognizesSeals = recognizesSeals
        readsInline = open.readsInline && refusal == nil && layers.isEmpty && !open.hasForgottenSealing
    }

    deinit { store.release(handle) }

    /// The attributes to keep beside a value that is set now; `nil` for stores that keep none.
    package var attributes: ValueAttributes? {
        guard let lifetime else { return fixedAttributes }
        return attributes(expires: Int64(clamping: Int128(Date.now.nanoseconds) + Int128(lifetime)))
    }

    /// The same for a value that expires at a time, in nanoseconds since 1970 UTC.
    package func attributes(expires: Int64) -> ValueAttributes {
        var attributes = fixedAttributes ?? ValueAttributes()
        attributes.expires = expires
        return attributes
    }

    /// The same for a value that expires when the one that it replaces would have, even if that is never.
    package func attributes(keepingExpiryOf replaced: RevisionedData) -> ValueAttributes? {
        replaced.attributes.expires.map { attributes(expires: $0) } ?? fixedAttributes
    }
}

extension ResolvedKey {
    /// A value of the host's own beside those of a store.
    package convenience init(
        hostsOwn address: StorageAddress, in open: OpenStore, _ layers: [SealingLayer], _ attributes: ValueAttributes?
    ) throws(StorageError) {
        let isKept = open.store.abilities.attributes != nil || !layers.isEmpty
        self.init(
            open: open, handle: try open.store.resolve(address), address: address, layers: layers,
            attributes: isKept ? attributes : nil, refusal: nil)
    }

    /// Identifies a value; equal targets are the same value.
    package struct Target: Hashable {
        package let store: ObjectIdentifier
        package let address: StorageAddress
        let directory: String?
    }

    /// Identifies the value of this key.
    package var target: Target {
        Target(store: ObjectIdentifier(open), address: address, directory: address.place.directory)
    }

    /// Whether another key has the same value, by another path of its folder. May wait.
    package func isOtherPath(of other: ResolvedKey) -> Bool {
        target != other.target && address.name.hasBytes(of: other.address.name)
            && open.keepsSameValues(as: other.open) && address.place.keepsSameValues(as: other.address.place)
    }
}

/// Values as stores keep them, to detect changes.
extension ResolvedKey {
    /// The bytes in the store, sealed or not; `nil` if there are none.
    package func stored() async throws(StorageError) -> Data? {
        try await open.wait("reading '\(address)'") { [self] () throws(StorageError) in try readStored() }
    }

    /// The same, for changes that are based on it.
    ///
    /// - Parameter views: One view per scope, added on demand.
    package func stored(_ views: inout [AtomicScope: StoreView]) async throws(StorageError) -> Data? {
        let known = views
        let stored: Data?
        (views, stored) = try await open.wait("reading '\(address)'") { [self] () throws(StorageError) in
            var views = known
            let stored = try readStored(&views)
            return (views, stored)
        }
        return stored
    }

    /// Opens a value from the bytes in a store.
    package func opened(_ stored: Data) async throws(StorageError) -> Data {
        guard !layers.isEmpty else { return stored }
        let value = try await sealedValue()
        return try await open.wait("opening '\(address)'") { () throws(StorageError) in
            try value.open(stored)
        }
    }

    /// The hash of the bytes in a store, whatever their size; `nil` if there are none.
    package func mark() async throws(StorageError) -> UInt64? {
        try await open.wait("reading '\(address)'") { [self] () throws(StorageError) in try readMark() }
    }
}

/// The same for threads that may wait.
extension ResolvedKey {
    /// The key with the material of the app's providers at hand, which the calls below do not get; the same key if it
    /// needs none.
    package func unlocked() async throws(StorageError) -> ResolvedKey {
        let needsMaterial = layers.contains { if case .external = $0.keys { true } else { false } }
        guard needsMaterial else { return self }
        return ResolvedKey(
            open: open, handle: try store.resolve(address), address: address, layers: try await sealedValue().layers,
            attributes: fixedAttributes, lifetime: lifetime.map { .nanoseconds($0) }, refusal: refusal,
            recognizesSeals: recognizesSeals)
    }

    /// The value behind its layers.
    package var sealed: SealedValue { sealedValue(layers) }

    /// Whether there is a value.
    package func isStored() throws(StorageError) -> Bool {
        try open.repeating { () throws(StorageError) in try store.exists(handle) }
    }

    /// The bytes in the store, sealed or not; `nil` if there are none.
    package func readStored() throws(StorageError) -> Data? {
        if let refusal { throw refusal }
        return try open.repeating { () throws(StorageError) in try store.get(handle) }
    }

    /// The same, for changes that are based on it.
    ///
    /// - Parameter views: One view per scope, added on demand.
    package func readStored(_ views: inout [AtomicScope: StoreView]) throws(StorageError) -> Data? {
        if let refusal { throw refusal }
        let view = if let known = views[scope] { known } else { try StoreView(scope) }
        let stored = try view.read(self)
        views[scope] = view
        return stored
    }

    /// The hash of the bytes in the store, whatever their size; `nil` if there are none.
    package func readMark() throws(StorageError) -> UInt64? {
        try open.repeating { () throws(StorageError) in
            guard try store.exists(handle) else { return nil }
            return try sealed.storedDigest()
        }
    }

    /// The stored value's attributes; `nil` if there is no value.
    ///
    /// - Parameter deriving: Whether a slow key derivation is allowed.
    package func readAttributes(deriving: Bool = true) throws(StorageError) -> ValueAttributes? {
        if let refusal { throw refusal }
        return try sealed.attributes(deriving: deriving)
    }

    /// The value in bytes that the store keeps.
    package func opening(_ stored: Data) throws(StorageError) -> Data {
        layers.isEmpty ? stored : try sealed.open(stored)
    }
}

extension ResolvedKey {
    /// A value as a key with the serializer `json` reads it: text that is not JSON of the key's type becomes a JSON
    /// string.
    package func asJSON(_ data: Data, for key: AnyStorageKey) async throws -> Data {
        guard key.descriptor.serializer == .json, (try? key.check(data)) == nil else { return data }
        return JSONText.string(data, recordedWith: try await storedAttributes()) ?? data
    }
}
