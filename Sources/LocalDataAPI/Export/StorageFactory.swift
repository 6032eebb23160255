internal import CLocalData
internal import FoundationEssentials

/// Opens a store of one Swift type; a component's `context` points to it.
class AnyStorageFactory {
    func open(options: ld_bytes, host: UnsafePointer<ld_host>?) throws -> UnsafePointer<ld_store> {
        throw StorageError(.unsupported)
    }
}

final class StorageFactory<Backend: StorageBackend>: AnyStorageFactory {
    private let make: (ComponentOptions, HostServices) throws -> Backend

    init(_ make: @escaping (ComponentOptions, HostServices) throws -> Backend) { self.make = make }

    override func open(options: ld_bytes, host: UnsafePointer<ld_host>?) throws -> UnsafePointer<ld_store> {
        let options = try ComponentOptions(json: Data(options.bytes()))
        return try StorageExport(make(options, HostServices(host))).table
    }
}

func openStorage(
    context: UnsafeMutableRawPointer?, host: UnsafePointer<ld_host>?, options: ld_bytes,
    table: UnsafeMutablePointer<UnsafeRawPointer?>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let context, let table else { throw StorageError(.unsupported, "open was called without a context") }
        let factory = Unmanaged<AnyStorageFactory>.fromOpaque(context).takeUnretainedValue()
        table.pointee = UnsafeRawPointer(try factory.open(options: options, host: host))
        return LD_OK
    }
}
