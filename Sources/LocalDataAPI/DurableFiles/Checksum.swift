internal import CChecksum

/// The CRC-32C of bytes that come in pieces, and how many they are.
package struct Checksum: Hashable, Sendable {
    /// The CRC-32C (RFC 3720) of all pieces.
    package private(set) var value: UInt32 = 0
    /// How many bytes there are.
    package private(set) var count = 0

    /// The checksum of nothing.
    package init() {}

    /// The checksum of bytes that are all there.
    @inline(__always)
    package init(of bytes: UnsafeRawBufferPointer) { add(bytes) }

    /// Adds the next piece.
    @inline(__always)
    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        value = ld_crc32c(value, bytes.baseAddress, bytes.count)
        count += bytes.count
    }
}
