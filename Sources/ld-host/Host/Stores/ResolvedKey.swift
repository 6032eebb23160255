internal import LocalDataAPI
internal import Synchronization

/// A key resolved with one snapshot of the configuration: an open store, a handle in it, and the results of checks.
final class ResolvedKey: KeyResolution, @unchecked Sendable {
    // Immutable; unchecked because the superclass is.
    let open: OpenStore
    let store: LoadedStore
    let handle: StoreHandle
    /// Reads the value.
    let reader: StoreReader
    let address: StorageAddress
    /// The layers of sealing around the key's values, innermost first.
    let layers: [SealingLayer]
    /// The attributes to keep beside the key's values; `nil` for stores that keep none.
    let attributes: ValueAttributes?
    /// Why values can be neither read nor written here, if they cannot.
    let refusal: StorageError?
    /// Whether `get` and `exists` may be called immediately, on the caller's thread.
    let readsInline: Bool
    /// Whether the location of the key's value has been recorded; see ``PlaceHistory``.
    let isNoted = Atomic(false)
    /// Whether older data is superseded if the key's value was set; see ``Supersession``. From then on, only others can
    /// put older data there.
    let isSettled = Atomic(false)

    init(
        snapshot: UInt, open: OpenStore, handle: StoreHandle, address: StorageAddress, layers: [SealingLayer],
        attributes: ValueAttributes?, refusal: StorageError?
    ) {
        self.open = open
        self.store = open.store
        self.handle = handle
        reader = open.store.reader(of: handle)
        self.address = address
        self.layers = layers
        self.attributes = attributes
        self.refusal = refusal
        readsInline = open.readsInline && refusal == nil && layers.isEmpty
        super.init(snapshot: snapshot)
    }

    deinit { store.release(handle) }
}

extension ResolvedKey {
    /// Whether another key has the same value, by another path of its folder. May wait.
    func isOtherPath(of other: ResolvedKey) -> Bool {
        target != other.target && address.name.utf8.elementsEqual(other.address.name.utf8)
            && open.keepsSameValues(as: other.open) && address.place.keepsSameValues(as: other.address.place)
    }
}
