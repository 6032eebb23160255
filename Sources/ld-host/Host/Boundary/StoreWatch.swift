internal import CLocalData
internal import LocalDataAPI
internal import Synchronization

/// A running watch, to be ended with `unwatch`.
package struct StoreWatch: @unchecked Sendable {
    // The token is opaque to the host, and the boundary's rules let any thread pass it to the store.
    let token: UnsafeMutableRawPointer?
    let listener: StoreListener
}

/// Receives a store's reports of changes, on any thread until the watch is ended. The store gets its number, so that a
/// late report is ignored.
final class StoreListener: Sendable {
    private let number: UInt
    private let changed: @Sendable (String?) -> Void

    private static let count = Atomic<UInt>(0)
    private static let listening = Mutex<[UInt: StoreListener]>([:])
    private static let componentBits: UInt = 14

    init(_ component: ComponentIdentity, _ changed: @escaping @Sendable (String?) -> Void) {
        let count = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
        number = count << Self.componentBits | component.number & (1 << Self.componentBits - 1)
        self.changed = changed
        Self.listening.withLock { $0[number] = self }
    }

    /// The context for the store; valid until ``end()``.
    var context: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: number) }

    func end() { Self.listening.withLock { $0[number] = nil } }

    fileprivate static func take(_ context: UnsafeMutableRawPointer?, _ name: ld_bytes) {
        let number = UInt(bitPattern: context)
        guard let listener = listening.withLock({ $0[number] }) else {
            ComponentIdentity.numbered(number & (1 << componentBits - 1))?
                .logMisuse("reported a change after its watch had ended")
            return
        }
        // An invalid name is none that the host could ask for: anything may have changed.
        listener.changed(name.count == 0 ? nil : name.text(atMost: StorageAddress.longestName))
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
