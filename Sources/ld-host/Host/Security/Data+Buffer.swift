internal import FoundationEssentials

extension Data {
    /// `withUnsafeBytes` with a typed error.
    @inline(__always)
    func withBuffer<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result: Swift.Result<Result, Failure> = withUnsafeBytes { bytes in
            do throws(Failure) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
