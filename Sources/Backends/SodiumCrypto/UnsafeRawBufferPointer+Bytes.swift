// libsodium accepts no null pointer, even for zero bytes, but an empty buffer may have one.

private let noBytes: StaticString = ""

extension UnsafeRawBufferPointer {
    /// The first byte, or any address of an empty buffer.
    @inline(__always)
    var bytePointer: UnsafePointer<UInt8> { baseAddress?.assumingMemoryBound(to: UInt8.self) ?? noBytes.utf8Start }
}

extension UnsafeMutableRawBufferPointer {
    /// The first byte, or of an empty buffer any address, which must not be written to.
    @inline(__always)
    var bytePointer: UnsafeMutablePointer<UInt8> {
        baseAddress?.assumingMemoryBound(to: UInt8.self) ?? UnsafeMutablePointer(mutating: noBytes.utf8Start)
    }
}
