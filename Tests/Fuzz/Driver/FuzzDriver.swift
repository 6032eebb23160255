internal import FuzzExercise
internal import Glibc

/// libFuzzer calls this with each input. It takes the end of the process for a finding.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try target.run(UnsafeRawBufferPointer(start: bytes, count: count))
        return 0
    } catch {
        stop("violation: \(error)")
    }
}

/// The kind of input, from LOCALDATA_FUZZ_TARGET. With LOCALDATA_FUZZ_SAMPLES the process only writes the valid inputs
/// of that kind to the named folder.
private let target: FuzzTarget = {
    guard let name = getenv("LOCALDATA_FUZZ_TARGET"), let target = FuzzTarget(rawValue: String(cString: name)) else {
        stop("LOCALDATA_FUZZ_TARGET is not one of: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    if let folder = getenv("LOCALDATA_FUZZ_SAMPLES") { writeSamples(of: target, to: String(cString: folder)) }
    return target
}()

private func writeSamples(of target: FuzzTarget, to folder: String) -> Never {
    do {
        for (index, bytes) in try target.samples().enumerated() {
            guard let file = fopen("\(folder)/sample-\(index)", "w") else { stop("cannot write to \(folder)") }
            fwrite(bytes, 1, bytes.count, file)
            fclose(file)
        }
    } catch { stop("\(error)") }
    // libFuzzer takes exit(3) for a finding.
    _exit(0)
}

private func stop(_ reason: String) -> Never {
    _ = "\(reason)\n".withCString { write(STDERR_FILENO, $0, strlen($0)) }
    abort()
}
