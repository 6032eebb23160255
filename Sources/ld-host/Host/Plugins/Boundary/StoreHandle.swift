package import LocalDataAPI

/// A store's resolution of an address. Valid on any thread until it is released.
package struct StoreHandle: @unchecked Sendable {
    // The pointer is opaque to the host, and the boundary's rules let any thread pass it to the store.
    package let pointer: UnsafeMutableRawPointer?
    /// What was resolved; kept until the handle is released.
    private let resolved: Unmanaged<Resolved>

    private final class Resolved {
        let address: StorageAddress

        init(_ address: StorageAddress) { self.address = address }
    }

    package init(_ address: StorageAddress, pointer: UnsafeMutableRawPointer?) {
        self.pointer = pointer
        resolved = .passRetained(Resolved(address))
    }

    /// What was resolved.
    package var address: StorageAddress { resolved.takeUnretainedValue().address }

    func release() { resolved.release() }
}
