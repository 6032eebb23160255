/// A store's resolution of an address. Valid on any thread until it is released.
package struct StoreHandle: @unchecked Sendable {
    // The pointer is opaque to the host, and the boundary's rules let any thread pass it to the store.
    package let pointer: UnsafeMutableRawPointer?

    package init(pointer: UnsafeMutableRawPointer?) { self.pointer = pointer }
}
