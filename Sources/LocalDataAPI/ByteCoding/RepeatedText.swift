#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Caches the last text, since the attributes of a namespace's values are mostly the same.
public struct RepeatedText: Sendable {
    private var bytes: [UInt8] = []
    /// The last text; `nil` if it was empty.
    public private(set) var text: String?

    /// Creates a cache without a text.
    public init() {}

    /// Takes the next text.
    ///
    /// - Returns: Whether it differs from the last one.
    @discardableResult
    public mutating func take(_ next: UnsafeRawBufferPointer) -> Bool {
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
