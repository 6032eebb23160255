internal import CLocalData
internal import LocalDataAPI
internal import Synchronization

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
package final class HeldHandle: Sendable {
    package let handle: StoreHandle
    private let store: LoadedStore

    package init(_ store: LoadedStore, _ handle: StoreHandle) {
        self.store = store
        self.handle = handle
    }

    deinit { store.release(handle) }
}

/// The functions that components call at any time on any thread, until they are removed. A component gets a number as
/// its context, not an address, so that a late call is noticed and ignored.
final class ListenerTable<Listener: Sendable>: Sendable {
    private let listening = Mutex<[UInt: Listener]>([:])

    /// Adds a listener of a component, and returns its number.
    func add(_ listener: Listener, of component: ComponentIdentity) -> UInt {
        let number = ListenerNumber.next(of: component)
        listening.withLock { $0[number] = listener }
        return number
    }

    func remove(_ number: UInt) { listening.withLock { $0[number] = nil } }

    /// The listener of a context; if it is not there, the misuse is logged.
    func find(_ context: UnsafeMutableRawPointer?, else misuse: String) -> Listener? {
        let number = UInt(bitPattern: context)
        if let listener = listening.withLock({ $0[number] }) { return listener }
        ListenerNumber.component(of: number)?.logMisuse(misuse)
        return nil
    }
}

/// The numbers of listeners: a count, and below it the number of the component.
enum ListenerNumber {
    private static let count = Atomic<UInt>(0)
    private static let componentBits: UInt = 14

    static func next(of component: ComponentIdentity) -> UInt {
        let count = count.wrappingAdd(1, ordering: .relaxed).newValue
        return count << componentBits | component.number & (1 << componentBits - 1)
    }

    /// The component that a number was made for.
    static func component(of number: UInt) -> ComponentIdentity? {
        ComponentIdentity.numbered(number & (1 << componentBits - 1))
    }
}
