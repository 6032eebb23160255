extension UnsafeRawBufferPointer {
    /// The first byte, as C declares bytes.
    @inline(__always)
    var bytePointer: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension UnsafeMutableRawBufferPointer {
    /// The first byte, as C declares bytes.
    @inline(__always)
    var bytePointer: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}
