internal import CChecksum

/// The CRC-32C and the number of bytes that arrive in pieces.
package struct Checksum: Hashable, Sendable {
    /// The CRC-32C (RFC 3720) of all pieces.
    package private(set) var value: UInt32 = 0
    /// The number of bytes.
    package private(set) var count = 0

    /// The checksum of no bytes.
    package init() {}

    /// The checksum of all bytes at once.
    @inline(__always)
    package init(of bytes: UnsafeRawBufferPointer) { add(bytes) }

    /// Adds the next piece.
    @inline(__always)
    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        value = ld_crc32c(value, bytes.baseAddress, bytes.count)
        count += bytes.count
    }
}
