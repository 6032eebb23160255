internal import CLocalData
internal import FoundationEssentials
internal import LocalDataAPI

/// The effects of one call that a C caller sees: the status, every report, every write to the sink.
struct Observation {
    let status: Int32
    let reports: [StorageError]
    let pieces: [Data]

    /// Makes a call with a sink and an error sink.
    ///
    /// - Parameter take: Called for each write; `false` asks the component to stop.
    init(
        taking take: @escaping (Data) throws -> Bool = { _ in true },
        _ call: (UnsafePointer<ld_sink>, UnsafePointer<ld_error_sink>) -> Int32
    ) {
        let witness = Witness(take: take)
        status = withExtendedLifetime(witness) {
            let context = Unmanaged.passUnretained(witness).toOpaque()
            var sink = ld_sink(size: UInt32(MemoryLayout<ld_sink>.size), context: context, write: witnessWrite)
            var error = ld_error_sink(
                size: UInt32(MemoryLayout<ld_error_sink>.size), context: context, report: witnessReport)
            return call(&sink, &error)
        }
        reports = witness.reports
        pieces = witness.pieces
        failure = witness.failure
    }

    private let failure: (any Error)?

    /// The status, for callers that do not test failures.
    ///
    /// - Throws: What the component reported, or what the sink found.
    @discardableResult
    func succeeded() throws -> Int32 {
        if let failure { throw failure }
        guard status < LD_OK else { return status }
        throw reports.first
            ?? StorageError(.unknown, "the component failed with status \(status), without reporting an error")
    }
}

private final class Witness {
    let take: (Data) throws -> Bool
    var reports: [StorageError] = []
    var pieces: [Data] = []
    var failure: (any Error)?

    init(take: @escaping (Data) throws -> Bool) { self.take = take }

    func fail(_ what: String) -> Int32 {
        failure = failure ?? StorageError(.corrupt, what)
        return 1
    }

    func write(_ data: Data) -> Int32 {
        pieces.append(data)
        do { return try take(data) ? 0 : 1 } catch {
            failure = failure ?? error
            return 1
        }
    }
}

private func witnessWrite(context: UnsafeMutableRawPointer?, bytes: ld_bytes) -> Int32 {
    guard let context else { return 1 }
    let witness = Unmanaged<Witness>.fromOpaque(context).takeUnretainedValue()
    guard let bytes = bytes.checked else { return witness.fail("the component wrote \(bytes.flaw())") }
    return witness.write(Data(bytes))
}

private func witnessReport(context: UnsafeMutableRawPointer?, code: Int32, message: ld_bytes, hint: ld_bytes) {
    guard let context else { return }
    Unmanaged<Witness>.fromOpaque(context).takeUnretainedValue().reports.append(
        StorageError(StorageError.Code(rawValue: code), message.lenientText, hint: hint.lenientText))
}
