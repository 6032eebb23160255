internal import COpenSSL
internal import LocalDataAPI

/// OpenSSL as a whole: its start, and the reasons that it keeps for each thread.
enum LibraryState {
    /// Starts OpenSSL, unless something else in the process has, without clearing up when the process ends: threads may
    /// still compute then.
    static func prepare() { OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) }

    /// Throws `unknown` with OpenSSL's reason unless a call answered 1.
    @inline(__always)
    static func check(_ call: StaticString, _ answer: Int32) throws(StorageError) {
        guard answer == 1 else { throw failure(call) }
    }

    /// That a call failed; OpenSSL's reasons name functions and states, never data.
    static func failure(_ call: StaticString) -> StorageError {
        StorageError(.unknown, "OpenSSL's \(call) failed: \(takeReason())")
    }

    /// The first reason of this thread; all of them are forgotten.
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
