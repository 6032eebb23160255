internal import CLocalData
internal import FoundationEssentials
internal import HostGround
package import LocalDataAPI

/// The function and component that a call goes to.
struct CallSite {
    private let identity: Unmanaged<ComponentIdentity>
    let function: StaticString

    init(_ identity: Unmanaged<ComponentIdentity>, _ function: StaticString) {
        self.identity = identity
        self.function = function
    }

    @inline(__always)
    var component: UInt { identity._withUnsafeGuaranteedRef { $0.number } }

    /// The error for a rule that the component broke in this call.
    func violation(_ what: String, code: StorageError.Code = .corrupt) -> StorageError {
        identity._withUnsafeGuaranteedRef { $0.violation("\(function)", what, code: code) }
    }
}

/// The successful statuses of a function.
enum CallAnswers {
    /// `LD_OK`.
    case done
    /// `LD_OK` from a function that computes, which cannot be stopped.
    case computed
    /// `LD_OK`, or `LD_ABSENT` if there is no value.
    case found
    /// The same, or `LD_EXPIRED` if there is a value that has expired, which throws ``StorageError/expired``.
    case current

    /// Whether `LD_ABSENT` is one of them.
    var mayBeAbsent: Bool { self == .found || self == .current }
}

extension StorageError {
    /// The value has expired. It is the store's answer to a read, and never leaves the host; see
    /// ``LoadedStore/discardingExpired(_:absent:_:)``. No component can report this number.
    package static let expired = StorageError(Code(rawValue: -3), "the value has expired")
}

// MARK: - Calls

extension CallSite {
    /// Makes a call with an error sink, and returns its status.
    ///
    /// - Throws: What the component reported, or the rule that it broke.
    @inline(__always)
    func call(
        _ answers: CallAnswers = .done, _ body: (UnsafePointer<ld_error_sink>) -> Int32
    ) throws(StorageError) -> Int32 {
        let slot = CallSlot.enter(self, .nothing, nil)
        let status = body(slot.pointee.error)
        return try end(slot, status, answers)
    }

    /// Makes a call that delivers one value; `nil` if absent.
    @inline(__always)
    func value(
        _ answers: CallAnswers = .current, _ body: (UnsafePointer<ld_sink>, UnsafePointer<ld_error_sink>) -> Int32
    ) throws(StorageError) -> Data? {
        var value = ReceivedValue()
        let status = try withPointer(to: &value) { (value) throws(StorageError) in
            let slot = CallSlot.enter(self, .value, value)
            let status = body(slot.pointee.sink, slot.pointee.error)
            return try end(slot, status, answers)
        }
        guard (status == LD_OK) == value.isThere else { throw mismatch(status) }
        return value.data
    }

    /// Makes a call that delivers pieces, one after the other, for as long as `take` accepts them.
    func pieces(
        _ answers: CallAnswers = .done, _ take: (UnsafeRawBufferPointer) -> PieceVerdict,
        _ body: (UnsafePointer<ld_sink>, UnsafePointer<ld_error_sink>) -> Int32
    ) throws(StorageError) -> Int32 {
        let outcome: Result<Int32, StorageError> = withoutActuallyEscaping(take) { take in
            var pieces = ReceivedPieces(take: take)
            return Result { () throws(StorageError) in
                try receiving(.pieces, &pieces, answers) { body($0.pointee.sink, $0.pointee.error) }
            }
        }
        return try outcome.get()
    }

    /// Makes a call that delivers its results to a variable of the caller.
    @inline(__always)
    func receiving<Received>(
        _ kind: CallSlot.Receiver, _ received: inout Received, _ answers: CallAnswers = .done,
        _ body: (UnsafeMutablePointer<CallSlot>) -> Int32
    ) throws(StorageError) -> Int32 {
        try withPointer(to: &received) { (received) throws(StorageError) in
            let slot = CallSlot.enter(self, kind, received)
            let status = body(slot)
            return try end(slot, status, answers)
        }
    }

    /// Makes a call without sinks, registered so that the host notices if the process ends during it.
    func plain<Result>(_ body: () -> Result) -> Result {
        let slot = CallSlot.enter(self, .nothing, nil)
        defer { slot.pointee.leave() }
        return body()
    }

    private func mismatch(_ status: Int32) -> StorageError {
        status == LD_OK
            ? violation("it reported a value but did not write it", code: .unknown)
            : violation("it wrote a value but returned status \(status), which means absent")
    }
}

// MARK: - How a call ended

extension CallSite {
    @inline(__always)
    private func end(
        _ slot: UnsafeMutablePointer<CallSlot>, _ status: Int32, _ answers: CallAnswers
    ) throws(StorageError) -> Int32 {
        slot.pointee.leave()
        if slot.pointee.isPlain, status == LD_OK || (status == LD_ABSENT && answers.mayBeAbsent) { return status }
        return try judge(slot, status, answers)
    }

    @inline(never)
    private func judge(
        _ slot: UnsafeMutablePointer<CallSlot>, _ status: Int32, _ answers: CallAnswers
    ) throws(StorageError) -> Int32 {
        let (fault, reports, wasStopped) = (slot.pointee.fault, slot.pointee.reports, slot.pointee.wasStopped)
        let invalidCode = slot.pointee.invalidCode
        slot.pointee.clear()
        if let fault { throw violation(fault) }
        if let invalidCode, let report = reports.first {
            throw violation("it reported the invalid error code \(invalidCode): \(report.message)", code: .unknown)
        }
        switch status {
        case _ where status == LD_OK || (status == LD_ABSENT && answers.mayBeAbsent):
            guard let report = reports.first else { return status }
            throw violation("it reported a failure (\(report)) but returned status \(status)", code: .unknown)
        case LD_EXPIRED where answers == .current && reports.isEmpty: throw .expired
        case LD_STOPPED:
            guard !wasStopped else { return status }
            throw violation(
                "it stopped (status \(status)) without being asked to",
                code: answers == .computed ? .unknown : .cancelled)
        case ..<LD_OK:
            guard let report = reports.first else {
                throw violation("it failed (\(status)) without reporting an error", code: .unknown)
            }
            guard reports.count > 1 else { throw report }
            throw StorageError(
                report.code, violation("it reported more than one failure; the first: \(report.message)").message,
                hint: report.hint)
        default:
            throw violation("it returned the invalid status \(status)", code: .unknown)
        }
    }
}

// MARK: - What the sinks write to

/// One value.
private struct ReceivedValue {
    var data: Data?
    var isThere = false
}

func takeValue(context: UnsafeMutableRawPointer?, bytes: ld_bytes) -> Int32 {
    guard let slot = CallSlot.running(context, .value), let value = slot.pointee.receiver else { return 1 }
    return takeValue(slot, value.assumingMemoryBound(to: ReceivedValue.self), bytes)
}

@inline(__always)
private func takeValue(
    _ slot: UnsafeMutablePointer<CallSlot>, _ value: UnsafeMutablePointer<ReceivedValue>, _ bytes: ld_bytes
) -> Int32 {
    guard let buffer = bytes.checked else {
        slot.pointee.reportViolation("it wrote \(bytes.flaw())")
        return 1
    }
    guard !value.pointee.isThere else {
        slot.pointee.reportViolation("it wrote two values to a sink for one")
        return 1
    }
    value.pointee.isThere = true
    value.pointee.data = buffer.baseAddress.map { Data(bytes: $0, count: buffer.count) } ?? Data()
    return 0
}

/// A value with its revision and attributes.
struct ReceivedRevisioned {
    var revision: UInt64 = 0
    var attributes = ValueAttributes()
    var value: Data?
}

func takeRevisioned(
    context: UnsafeMutableRawPointer?, revision: UInt64, attributes: UnsafePointer<ld_attributes>?, bytes: ld_bytes
) {
    guard let slot = CallSlot.running(context, .revisioned), let receiver = slot.pointee.receiver else { return }
    let received = receiver.assumingMemoryBound(to: ReceivedRevisioned.self)
    guard revision != 0 else { return slot.pointee.reportViolation("it passed a value with the revision 0") }
    received.pointee.revision = revision
    take(bytes, slot, &received.pointee.value)
    guard let attributes else { return }
    do throws(StorageError) { received.pointee.attributes = try ValueAttributes(attributes) } catch {
        slot.pointee.reportViolation(error.message)
    }
}

private func take(_ bytes: ld_bytes, _ slot: UnsafeMutablePointer<CallSlot>, _ value: inout Data?) {
    guard let buffer = bytes.checked else { return slot.pointee.reportViolation("it wrote \(bytes.flaw())") }
    guard value == nil else { return slot.pointee.reportViolation("it passed two values for one") }
    value = buffer.baseAddress.map { Data(bytes: $0, count: buffer.count) } ?? Data()
}

/// The verdict on a piece.
enum PieceVerdict {
    case more
    case enough
    /// The piece breaks this rule.
    case broken(String)
}

/// Pieces.
private struct ReceivedPieces {
    let take: (UnsafeRawBufferPointer) -> PieceVerdict
}

func takePiece(context: UnsafeMutableRawPointer?, bytes: ld_bytes) -> Int32 {
    guard let slot = CallSlot.running(context, .pieces), let pieces = slot.pointee.receiver,
        !slot.pointee.wasStopped
    else { return 1 }
    guard let buffer = bytes.checked else {
        slot.pointee.reportViolation("it wrote \(bytes.flaw())")
        return 1
    }
    switch pieces.assumingMemoryBound(to: ReceivedPieces.self).pointee.take(buffer) {
    case .more: return 0
    case .enough: slot.pointee.wasStopped = true
    case .broken(let what): slot.pointee.reportViolation(what)
    }
    return 1
}

/// `withUnsafeMutablePointer` with a typed error.
@inline(__always)
private func withPointer<Value, Result, Failure: Error>(
    to value: inout Value, _ body: (UnsafeMutablePointer<Value>) throws(Failure) -> Result
) throws(Failure) -> Result {
    try withUnsafeMutablePointer(to: &value, body)
}
