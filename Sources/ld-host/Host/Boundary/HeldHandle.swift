/// A handle that is released with its last reference.
final class HeldHandle: Sendable {
    let handle: StoreHandle
    private let store: LoadedStore

    init(_ store: LoadedStore, _ handle: StoreHandle) {
        self.store = store
        self.handle = handle
    }

    deinit { store.release(handle) }
}
