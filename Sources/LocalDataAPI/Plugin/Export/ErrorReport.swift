package import CLocalData

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Runs a component's code for a C caller and reports the error that it throws.
@inline(__always)
package func reporting(_ sink: UnsafePointer<ld_error_sink>?, _ body: () throws -> Int32) -> Int32 {
    do {
        return try body()
    } catch is SinkStopped {
        return LD_STOPPED
    } catch is ValueExpired {
        return LD_EXPIRED
    } catch {
        report(error, to: sink)
        return LD_FAILED
    }
}

/// Thrown inside an exported component when the caller's source gave up.
package struct SinkStopped: Error {
    package init() {}
}

private func report(_ error: any Error, to sink: UnsafePointer<ld_error_sink>?) {
    guard let sink, let write = sink.pointee.report else { return }
    let known: (code: Int32, message: String, hint: String) =
        switch error {
        case let error as StorageError: (error.code.rawValue, error.message, error.hint)
        case let error as MigrationError: (error.code.number, error.message, error.underlying?.hint ?? "")
        case is CancellationError: (StorageError.Code.cancelled.rawValue, "it was cancelled", "")
        default: (StorageError.Code.unknown.rawValue, "\(error)", "")
        }
    known.message.withBytes { message in
        known.hint.withBytes { hint in write(sink.pointee.context, known.code, message, hint) }
    }
}
