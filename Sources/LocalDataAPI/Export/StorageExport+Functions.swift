internal import CLocalData

// The C functions of an exported store's table. They are at file scope, so that no isolation is inferred for them.

/// Lends the store for the duration of `body`, without counting references: the table keeps it until `close`, and all
/// cores would contend for the count's cache line.
@inline(__always)
private func withStore<Result>(
    _ context: UnsafeMutableRawPointer?, _ body: (AnyStorageExport) throws -> Result
) throws -> Result {
    guard let context else { throw StorageError(.unsupported, "a store was called without 'self'") }
    return try Unmanaged<AnyStorageExport>.fromOpaque(context)._withUnsafeGuaranteedRef { try body($0) }
}

@inline(__always)
func checked(_ handle: UnsafeMutableRawPointer?) throws -> UnsafeMutableRawPointer {
    guard let handle else { throw StorageError(.invalidAddress, "a store was called without a handle") }
    return handle
}

func resolveKey(
    context: UnsafeMutableRawPointer?, address: UnsafePointer<ld_address>?,
    handle: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let address, let handle else { throw StorageError(.invalidAddress, "resolve was called without a key") }
        handle.pointee = try withStore(context) { try $0.resolve(StorageAddress(address)) }
        return LD_OK
    }
}

func releaseKey(context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?) {
    if let handle { try? withStore(context) { $0.release(handle) } }
}

func getValue(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, sink: UnsafePointer<ld_sink>?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let sink else { throw StorageError(.unsupported, "get was called without a sink") }
        return try withStore(context) { try $0.get(checked(handle), sink) }
    }
}

func valueExists(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) { try withStore(context) { try $0.exists(checked(handle)) } }
}

func setValue(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, value: ld_bytes,
    attributes: UnsafePointer<ld_attributes>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        try withStore(context) { try $0.set(checked(handle), value, attributes.map { try ValueAttributes($0) }) }
        return LD_OK
    }
}

func removeValue(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) { try withStore(context) { try $0.remove(checked(handle)) } }
}

func findAbility(context: UnsafeMutableRawPointer?, id: ld_bytes) -> UnsafeRawPointer? {
    guard let id = id.text else { return nil }
    return try? withStore(context) { $0.abilities.table(id) }
}

func closeStore(context: UnsafeMutableRawPointer?) {
    if let context { Unmanaged<AnyStorageExport>.fromOpaque(context).release() }
}
