internal import CLocalData

/// Runs a component's code for a C caller and turns what it throws into a report.
@inline(__always)
func reporting(_ sink: UnsafePointer<ld_error_sink>?, _ body: () throws -> Int32) -> Int32 {
    do {
        return try body()
    } catch is SinkStopped {
        return LD_STOPPED
    } catch {
        report(error, to: sink)
        return LD_FAILED
    }
}

/// Thrown inside an exported component when the caller's source gave up.
struct SinkStopped: Error {}

private func report(_ error: any Error, to sink: UnsafePointer<ld_error_sink>?) {
    guard let sink, let write = sink.pointee.report else { return }
    let known = (error as? StorageError) ?? StorageError(.unknown, "\(error)")
    known.message.withBytes { message in
        known.hint.withBytes { hint in write(sink.pointee.context, known.code.rawValue, message, hint) }
    }
}
