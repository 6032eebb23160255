/// A handle that is given back when nobody needs it any more.
final class HeldHandle: Sendable {
    let handle: StoreHandle
    private let store: LoadedStore

    init(_ store: LoadedStore, _ handle: StoreHandle) {
        self.store = store
        self.handle = handle
    }

    deinit { store.release(handle) }
}
