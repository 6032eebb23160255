internal import CLocalData

// The C functions of the table. They are at file scope, so that no isolation is inferred for them.

func readRevision(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, taker: UnsafeMutableRawPointer?,
    take: (@convention(c) (UnsafeMutableRawPointer?, UInt64, UnsafePointer<ld_attributes>?, ld_bytes) -> Void)?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        let found = try ability(context, \.conditional).get(behind: handle) { revision, attributes, value in
            value.withUnsafeBytes { value in
                _ = attributes.withBoundary {
                    take?(taker, revision, $0, ld_bytes(data: value.baseAddress, count: value.count))
                    return LD_OK
                }
            }
        }
        return found ? LD_OK : LD_ABSENT
    }
}

func setConditionally(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, value: ld_bytes,
    attributes: UnsafePointer<ld_attributes>?, condition: UInt32, revision: UnsafeMutablePointer<UInt64>?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let condition = WriteCondition(condition, revision: revision?.pointee ?? 0) else {
            throw StorageError(.unsupported, "a conditional set has the unknown condition \(condition)")
        }
        let new = try ability(context, \.conditional).set(
            behind: handle, value, attributes.map { try ValueAttributes($0) }, condition)
        guard let new else { return LD_ABSENT }
        revision?.pointee = new
        return LD_OK
    }
}

func removeConditionally(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, revision: UInt64,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) { try ability(context, \.conditional).remove(behind: handle, revision) ? LD_OK : LD_ABSENT }
}

extension WriteCondition {
    /// The condition of an `LD_IF_...` number; `nil` for an unknown one.
    init?(_ number: UInt32, revision: UInt64) {
        switch number {
        case LD_IF_ANYTHING: self = .anything
        case LD_IF_ABSENT: self = .absent
        case LD_IF_REVISION: self = .revision(revision)
        default: return nil
        }
    }

    /// Its `LD_IF_...` number, and the revision that it expects, or 0.
    package var boundary: (number: UInt32, revision: UInt64) {
        switch self {
        case .anything: (LD_IF_ANYTHING, 0)
        case .absent: (LD_IF_ABSENT, 0)
        case .revision(let revision): (LD_IF_REVISION, revision)
        }
    }
}

func discardExpired(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        try ability(context, \.expiry).discard(behind: handle)
        return LD_OK
    }
}

func sweepExpired(
    context: UnsafeMutableRawPointer?, place: UnsafePointer<ld_namespace>?, limit: UInt64,
    removed: UnsafeMutablePointer<UInt64>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        let place = try place.map { try StorageNamespace($0) }
        let count = try ability(context, \.expiry).sweep(place, limit: Int(clamping: limit))
        guard count >= 0 else { throw StorageError(.corrupt, "the store has removed \(count) values by its own word") }
        removed?.pointee = UInt64(count)
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
        try ability(context, \.expiry).forEachExpired(in: StorageNamespace(place)) { name in
            stopped = name.withBytes { sink.pointee.write?(sink.pointee.context, $0) } != 0
            return !stopped
        }
        return stopped ? LD_STOPPED : LD_OK
    }
}
