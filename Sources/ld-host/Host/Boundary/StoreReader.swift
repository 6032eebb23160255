internal import CLocalData
package import FoundationEssentials
package import LocalDataAPI

/// The call that reads one handle's value: what it needs of store and handle, without a reference to either, so that
/// reading counts nothing that threads share.
package struct StoreReader: @unchecked Sendable {
    // The pointers are opaque to the host, and the boundary's rules let any thread make the call.
    private let store: UnsafeMutableRawPointer?
    private let handle: UnsafeMutableRawPointer?
    private let function: GetFunction?

    private typealias GetFunction =
        @Sendable @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafePointer<ld_sink>?, UnsafePointer<ld_error_sink>?
        ) -> ld_status

    init(_ table: ld_store, _ handle: StoreHandle) {
        store = table.`self`
        function = table.get
        self.handle = handle.pointer
    }

    /// The value, or `nil` if there is none.
    @inline(__always)
    package func read() throws(StorageError) -> Data? {
        let (status, data) = try ValueSink.collect { (sink) throws(StorageError) in
            try ReportSink.call { function?(store, handle, sink, $0) ?? LD_FAILED }
        }
        switch status {
        case LD_OK:
            guard let data else { throw StorageError(.unknown, "the store reported a value and did not write it") }
            return data
        case LD_ABSENT: return nil
        default: throw StorageError(.cancelled, "the store stopped before the value was read")
        }
    }
}
