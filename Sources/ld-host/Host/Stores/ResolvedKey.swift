internal import LocalDataAPI
internal import Synchronization

/// A key as one snapshot of the configuration resolves it: an open store, a handle in it, and what was checked.
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
    /// What is kept beside the key's values; `nil` for stores that keep nothing.
    let attributes: ValueAttributes?
    /// Why values can be neither read nor written here, if so.
    let refusal: StorageError?
    /// Whether `get` and `exists` may be called right away, on the caller's thread.
    let readsInline: Bool
    /// Whether it is remembered that the key's value is written here; see ``PlaceHistory``.
    let isNoted = Atomic(false)
    /// Whether older data has been superseded if the key's value was set; see ``Supersession``. Others may only put it
    /// there after that.
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
    /// Whether another key's value is this one's, by another path of its folder. May wait.
    func isOtherPath(of other: ResolvedKey) -> Bool {
        target != other.target && address.name.utf8.elementsEqual(other.address.name.utf8)
            && open.keepsSameValues(as: other.open) && address.place.keepsSameValues(as: other.address.place)
    }
}
