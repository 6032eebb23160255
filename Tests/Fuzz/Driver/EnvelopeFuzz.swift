internal import EnvelopeExercise
internal import Glibc

/// What libFuzzer calls with each input. It takes the end of the process for a finding.
@c(LLVMFuzzerTestOneInput)
public func fuzzEnvelope(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try exercise.get().run(UnsafeRawBufferPointer(start: bytes, count: count))
        return 0
    } catch {
        let text = "violation: \(error)\n"
        _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
        abort()
    }
}

private let exercise = Result { try EnvelopeExercise.withGuessableTags() }
