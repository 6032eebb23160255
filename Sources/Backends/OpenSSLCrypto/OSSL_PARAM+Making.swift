internal import COpenSSL

/// Parameters for OpenSSL's functions. They borrow their memory, which must outlive the call.
extension OSSL_PARAM {
    /// Bytes to read or to fill.
    @inline(__always)
    static func bytes(_ name: StaticString, _ bytes: UnsafeRawBufferPointer) -> OSSL_PARAM {
        // OpenSSL treats a null pointer as a missing value, even for zero bytes.
        make(name, OSSL_PARAM_OCTET_STRING, bytes.baseAddress ?? UnsafeRawPointer(name.utf8Start), bytes.count)
    }

    static func text(_ name: StaticString, _ text: StaticString) -> OSSL_PARAM {
        make(name, OSSL_PARAM_UTF8_STRING, UnsafeRawPointer(text.utf8Start), text.utf8CodeUnitCount)
    }

    static func number(_ name: StaticString, _ number: UnsafePointer<UInt64>) -> OSSL_PARAM {
        make(name, OSSL_PARAM_UNSIGNED_INTEGER, UnsafeRawPointer(number), MemoryLayout<UInt64>.size)
    }

    /// The end of a list.
    @inline(__always)
    static var end: OSSL_PARAM { OSSL_PARAM(key: nil, data_type: 0, data: nil, data_size: 0, return_size: 0) }

    @inline(__always)
    private static func make(
        _ name: StaticString, _ type: Int32, _ data: UnsafeRawPointer, _ size: Int
    ) -> OSSL_PARAM {
        OSSL_PARAM(
            key: UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self), data_type: UInt32(type),
            data: UnsafeMutableRawPointer(mutating: data), data_size: size, return_size: Int.max)
    }
}
