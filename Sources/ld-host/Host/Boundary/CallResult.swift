internal import CLocalData
internal import FoundationEssentials
internal import LocalDataAPI

// The host's sinks: what a component's results and reports are written to. A sink lives on the stack of the call.

/// Takes the report of a failure.
struct ReportSink {
    private var error: StorageError?

    /// Makes a call with an error sink and returns its status.
    ///
    /// - Throws: What the component reported, or `unknown` if it failed without a report or with a status that there
    ///   is none.
    @inline(__always)
    static func call(_ body: (UnsafePointer<ld_error_sink>) -> Int32) throws(StorageError) -> Int32 {
        var report = ReportSink()
        let status = withUnsafeMutablePointer(to: &report) { report in
            var sink = ld_error_sink(
                size: UInt32(MemoryLayout<ld_error_sink>.size), context: report, report: takeReport)
            return body(&sink)
        }
        if (LD_OK...LD_STOPPED).contains(status) { return status }
        guard status < LD_OK else {
            throw StorageError(
                .unknown, "the component answered with the status \(status), which has no meaning",
                hint: "report this to the plugin's author")
        }
        throw report.error ?? StorageError(.unknown, "the component failed (\(status)) without saying why")
    }

    fileprivate mutating func take(_ code: Int32, _ message: ld_bytes, _ hint: ld_bytes) {
        error = StorageError(StorageError.Code(rawValue: code), message.lenientText, hint: hint.lenientText)
    }
}

private func takeReport(context: UnsafeMutableRawPointer?, code: Int32, message: ld_bytes, hint: ld_bytes) {
    context?.assumingMemoryBound(to: ReportSink.self).pointee.take(code, message, hint)
}

/// Takes one value.
struct ValueSink {
    private(set) var data: Data?

    /// Calls `body` with a sink and returns what was written to it.
    @inline(__always)
    static func collect<Failure: Error>(
        _ body: (UnsafePointer<ld_sink>) throws(Failure) -> Int32
    ) throws(Failure) -> (status: Int32, data: Data?) {
        var value = ValueSink()
        let status = try withPointer(to: &value) { (value) throws(Failure) in
            var sink = ld_sink(size: UInt32(MemoryLayout<ld_sink>.size), context: value, write: takeValue)
            return try body(&sink)
        }
        return (status, value.data)
    }

    fileprivate mutating func take(_ bytes: ld_bytes) { data = Data(bytes.buffer) }
}

private func takeValue(context: UnsafeMutableRawPointer?, bytes: ld_bytes) -> Int32 {
    context?.assumingMemoryBound(to: ValueSink.self).pointee.take(bytes)
    return 0
}

/// Takes pieces, one after the other, as long as `body` wants them.
struct PieceSink {
    let body: (UnsafeRawBufferPointer) -> Bool

    /// Calls `call` with a sink that hands each piece to `body`.
    static func forEach<Failure: Error>(
        _ body: (UnsafeRawBufferPointer) -> Bool, _ call: (UnsafePointer<ld_sink>) throws(Failure) -> Int32
    ) throws(Failure) -> Int32 {
        let outcome: Result<Int32, Failure> = withoutActuallyEscaping(body) { body in
            var pieces = PieceSink(body: body)
            do throws(Failure) {
                return .success(
                    try withPointer(to: &pieces) { (pieces) throws(Failure) in
                        var sink = ld_sink(size: UInt32(MemoryLayout<ld_sink>.size), context: pieces, write: takePiece)
                        return try call(&sink)
                    })
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }
}

private func takePiece(context: UnsafeMutableRawPointer?, bytes: ld_bytes) -> Int32 {
    guard let context else { return 1 }
    return context.assumingMemoryBound(to: PieceSink.self).pointee.body(bytes.buffer) ? 0 : 1
}

/// `withUnsafeMutablePointer` with a typed error.
@inline(__always)
private func withPointer<Value, Result, Failure: Error>(
    to value: inout Value, _ body: (UnsafeMutablePointer<Value>) throws(Failure) -> Result
) throws(Failure) -> Result {
    try withUnsafeMutablePointer(to: &value, body)
}
