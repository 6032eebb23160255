internal import Synchronization

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
