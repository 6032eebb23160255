internal import CSodium

/// HMAC, RFC 2104, with one of libsodium's hashes. A state is plain memory: a copy continues from the original's state.
protocol SodiumHMAC {
    associatedtype State: BitwiseCopyable

    /// The size of a code in bytes.
    static var size: Int { get }
    static var empty: State { get }
    /// Starts a code under a key of any length.
    static func start(_ state: UnsafeMutablePointer<State>, key: UnsafeRawBufferPointer)
    static func add(_ bytes: UnsafeRawBufferPointer, to state: UnsafeMutablePointer<State>)
    /// Writes the code and clears the state.
    static func finish(_ state: UnsafeMutablePointer<State>, into code: UnsafeMutablePointer<UInt8>)
}

enum HMACSHA256: SodiumHMAC {
    static let size = Int(crypto_auth_hmacsha256_BYTES)
    static var empty: crypto_auth_hmacsha256_state { crypto_auth_hmacsha256_state() }

    @inline(__always)
    static func start(_ state: UnsafeMutablePointer<crypto_auth_hmacsha256_state>, key: UnsafeRawBufferPointer) {
        crypto_auth_hmacsha256_init(state, key.bytePointer, key.count)
    }

    @inline(__always)
    static func add(_ bytes: UnsafeRawBufferPointer, to state: UnsafeMutablePointer<crypto_auth_hmacsha256_state>) {
        crypto_auth_hmacsha256_update(state, bytes.bytePointer, UInt64(bytes.count))
    }

    @inline(__always)
    static func finish(
        _ state: UnsafeMutablePointer<crypto_auth_hmacsha256_state>, into code: UnsafeMutablePointer<UInt8>
    ) { crypto_auth_hmacsha256_final(state, code) }
}

enum HMACSHA512: SodiumHMAC {
    static let size = Int(crypto_auth_hmacsha512_BYTES)
    static var empty: crypto_auth_hmacsha512_state { crypto_auth_hmacsha512_state() }

    @inline(__always)
    static func start(_ state: UnsafeMutablePointer<crypto_auth_hmacsha512_state>, key: UnsafeRawBufferPointer) {
        crypto_auth_hmacsha512_init(state, key.bytePointer, key.count)
    }

    @inline(__always)
    static func add(_ bytes: UnsafeRawBufferPointer, to state: UnsafeMutablePointer<crypto_auth_hmacsha512_state>) {
        crypto_auth_hmacsha512_update(state, bytes.bytePointer, UInt64(bytes.count))
    }

    @inline(__always)
    static func finish(
        _ state: UnsafeMutablePointer<crypto_auth_hmacsha512_state>, into code: UnsafeMutablePointer<UInt8>
    ) { crypto_auth_hmacsha512_final(state, code) }
}
