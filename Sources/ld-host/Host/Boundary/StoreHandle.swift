/// What a store resolved an address to. Valid until it is released, on any thread.
package struct StoreHandle: @unchecked Sendable {
    // The pointer is opaque to the host, and the boundary's rules let any thread pass it to the store.
    package let pointer: UnsafeMutableRawPointer?

    package init(pointer: UnsafeMutableRawPointer?) { self.pointer = pointer }
}
