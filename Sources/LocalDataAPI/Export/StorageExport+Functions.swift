internal import CLocalData

// The C functions of an exported store's table. They stand at file scope, so that no isolation is inferred for them.

@inline(__always)
private func store(_ context: UnsafeMutableRawPointer?) throws -> AnyStorageExport {
    guard let context else { throw StorageError(.unsupported, "a store was called without its self") }
    return Unmanaged<AnyStorageExport>.fromOpaque(context).takeUnretainedValue()
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
        handle.pointee = try store(context).resolve(StorageAddress(address.pointee))
        return LD_OK
    }
}

func releaseKey(context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?) {
    if let handle { try? store(context).release(handle) }
}

func getValue(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, sink: UnsafePointer<ld_sink>?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let sink else { throw StorageError(.unsupported, "get was called without a sink") }
        return try store(context).get(checked(handle), sink)
    }
}

func valueExists(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) { try store(context).exists(checked(handle)) }
}

func setValue(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, value: ld_bytes,
    attributes: UnsafePointer<ld_attributes>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        try store(context).set(checked(handle), value, attributes.map { ValueAttributes($0) })
        return LD_OK
    }
}

func removeValue(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) { try store(context).remove(checked(handle)) }
}

func findAbility(context: UnsafeMutableRawPointer?, id: ld_bytes) -> UnsafeRawPointer? {
    guard let id = id.text else { return nil }
    return try? store(context).abilities.table(id)
}

func closeStore(context: UnsafeMutableRawPointer?) {
    if let context { Unmanaged<AnyStorageExport>.fromOpaque(context).release() }
}
