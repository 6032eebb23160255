internal import COpenSSL
internal import LocalDataAPI

/// OpenSSL as a library: its initialization, and its error queues per thread.
enum LibraryState {
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
