internal import COpenSSL
internal import LocalDataPluginAPI

/// OpenSSL as a library: its initialization, and its error queues per thread.
enum OpenSSLLibrary {
    /// Initializes OpenSSL, unless other code has done so, without cleaning up when the process exits: threads may
    /// still compute then.
    static func prepare() { OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) }

    /// Throws `unknown` with OpenSSL's reason unless a call returned 1.
    @inline(__always)
    static func check(_ call: StaticString, _ answer: Int32) throws(StorageError) {
        guard answer == 1 else { throw failure(call) }
    }

    /// The error for a failed call; OpenSSL's reasons name functions and states, never data.
    static func failure(_ call: StaticString) -> StorageError {
        StorageError(.unknown, "OpenSSL's \(call) failed: \(takeReason())")
    }

    /// This thread's first reason; clears all of them.
    static func takeReason() -> String {
        defer { forgetReasons() }
        let code = ERR_get_error()
        guard code != 0 else { return "no reason given" }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
            ERR_error_string_n(code, text.baseAddress, text.count)
            return text.baseAddress.map { String(cString: $0) } ?? ""
        }
    }

    static func forgetReasons() { ERR_clear_error() }
}

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
