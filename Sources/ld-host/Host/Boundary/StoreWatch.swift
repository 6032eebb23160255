internal import CLocalData
internal import LocalDataAPI

/// A running watch, to be ended with `unwatch`.
package struct StoreWatch: @unchecked Sendable {
    // The token is opaque to the host, and the boundary's rules let any thread pass it to the store.
    let token: UnsafeMutableRawPointer?
    let listener: StoreListener
}

/// Receives a store's reports of changes, on any thread until the watch is ended.
final class StoreListener: Sendable {
    private let number: UInt

    private static let listening = ListenerTable<@Sendable (String?) -> Void>()

    init(_ component: ComponentIdentity, _ changed: @escaping @Sendable (String?) -> Void) {
        number = Self.listening.add(changed, of: component)
    }

    /// The context for the store; valid until ``end()``.
    var context: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: number) }

    func end() { Self.listening.remove(number) }

    fileprivate static func take(_ context: UnsafeMutableRawPointer?, _ name: ld_bytes) {
        // An invalid name is none that the host could ask for: anything may have changed.
        listening.find(context, else: "reported a change after its watch had ended")?(
            name.count == 0 ? nil : name.text(atMost: StorageAddress.longestName))
    }
}

func takeChange(context: UnsafeMutableRawPointer?, name: ld_bytes) { StoreListener.take(context, name) }

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
