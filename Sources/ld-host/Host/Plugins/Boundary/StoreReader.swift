internal import CLocalData
package import FoundationEssentials
package import LocalDataAPI

/// The call that reads one handle's value. It copies what it needs of store and handle, so that reading changes no
/// reference count that threads share.
package struct StoreReader: @unchecked Sendable {
    // The pointers are opaque to the host, and the boundary's rules let any thread make the call.
    private let store: UnsafeMutableRawPointer?
    private let handle: UnsafeMutableRawPointer?
    private let function: GetFunction?
    // Identities are never freed.
    private let identity: Unmanaged<ComponentIdentity>

    private typealias GetFunction =
        @Sendable @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafePointer<ld_sink>?, UnsafePointer<ld_error_sink>?
        ) -> ld_status

    init(_ table: ld_store, _ handle: StoreHandle, _ identity: ComponentIdentity) {
        self.identity = Unmanaged.passUnretained(identity)
        store = table.`self`
        function = table.get
        self.handle = handle.pointer
    }

    /// The value, or `nil` if absent.
    @inline(__always)
    package func read() throws(StorageError) -> Data? {
        try CallSite(identity, "get").value { sink, error in function?(store, handle, sink, error) ?? LD_FAILED }
    }
}
