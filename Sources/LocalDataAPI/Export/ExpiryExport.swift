internal import CLocalData

/// The expiry of a store of some Swift type.
class AnyExpiryExport {
    func discard(_ handle: UnsafeMutableRawPointer) throws {}
    func sweep(_ place: StorageNamespace?, _ limit: Int) throws -> Int { 0 }
    func forEachExpired(_ place: StorageNamespace, _ body: (String) -> Bool) throws {}
}

final class ExpiryExport<Backend: ExpiringBackend>: AnyExpiryExport {
    private let backend: Backend

    init(_ backend: Backend) { self.backend = backend }

    override func discard(_ handle: UnsafeMutableRawPointer) throws {
        try backend.discard(KeyBox<Backend.Key>.key(handle))
    }

    override func sweep(_ place: StorageNamespace?, _ limit: Int) throws -> Int {
        try backend.sweep(place, limit: limit)
    }

    override func forEachExpired(_ place: StorageNamespace, _ body: (String) -> Bool) throws {
        try backend.forEachExpired(in: place, body)
    }
}

// The C functions of the table. They are at file scope, so that no isolation is inferred for them.

func discardExpired(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        try ability(context, \.expiry).discard(checked(handle))
        return LD_OK
    }
}

func sweepExpired(
    context: UnsafeMutableRawPointer?, place: UnsafePointer<ld_namespace>?, limit: UInt64,
    removed: UnsafeMutablePointer<UInt64>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        let place = try place.map { try StorageNamespace($0) }
        removed?.pointee = UInt64(try ability(context, \.expiry).sweep(place, Int(clamping: limit)))
        return LD_OK
    }
}

func listExpired(
    context: UnsafeMutableRawPointer?, place: UnsafePointer<ld_namespace>?, sink: UnsafePointer<ld_sink>?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let sink else { throw StorageError(.unsupported, "expired was called without a sink") }
        var stopped = false
        try ability(context, \.expiry).forEachExpired(StorageNamespace(place)) { name in
            stopped = name.withBytes { sink.pointee.write?(sink.pointee.context, $0) } != 0
            return !stopped
        }
        return stopped ? LD_STOPPED : LD_OK
    }
}
