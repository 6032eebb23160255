internal import Glibc

/// A text that often comes again, and is then not made anew: what is kept beside the values of a place mostly is the
/// same.
package struct RepeatedText {
    private var bytes: [UInt8] = []
    /// What came last; `nil` if it was empty.
    package private(set) var text: String?

    package init() {}

    /// Takes the next one.
    ///
    /// - Returns: Whether it is another than the last.
    @discardableResult
    package mutating func take(_ next: UnsafeRawBufferPointer) -> Bool {
        let isSame = bytes.withUnsafeBytes { known in
            guard known.count == next.count, let start = known.baseAddress, let other = next.baseAddress else {
                return known.count == next.count
            }
            return memcmp(start, other, next.count) == 0
        }
        guard !isSame else { return false }
        bytes = Array(next)
        text = bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
        return true
    }
}
