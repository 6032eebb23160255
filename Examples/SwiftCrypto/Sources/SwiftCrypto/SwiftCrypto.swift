import CLibSodium
import LocalDataPluginAPI

/// Computes with libsodium. It keeps nothing between calls, so any number of threads may use it at once.
struct SwiftCrypto: CryptoProvider {
    static let component = ComponentInfo(id: "swift-crypto", summary: "computes with libsodium")

    let ciphers = [AuthenticatedCipher.chaCha20Poly1305]
    let derivations = [KeyDerivationFunction.hkdfSHA256]
    let agreements: [KeyAgreement] = []

    init(options: ComponentOptions, host: HostServices) throws {
        guard sodium_init() >= 0 else {
            throw StorageError(.unsupported, "libsodium finds no source of random bytes on this machine")
        }
    }

    func seal(
        _ plaintext: RawSpan, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
        authenticating data: RawSpan, ciphertext: inout MutableRawSpan, tag: inout MutableRawSpan
    ) {
        crypto_aead_chacha20poly1305_ietf_encrypt_detached(
            ciphertext.pointer(), tag.pointer(), nil, plaintext.pointer, UInt64(plaintext.byteCount), data.pointer,
            UInt64(data.byteCount), nil, nonce.pointer, key.pointer)
    }

    /// libsodium compares tags in constant time and decrypts only what is authentic.
    func open(
        _ ciphertext: RawSpan, tag: RawSpan, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
        authenticating data: RawSpan, plaintext: inout MutableRawSpan
    ) throws {
        let result = crypto_aead_chacha20poly1305_ietf_decrypt_detached(
            plaintext.pointer(), nil, ciphertext.pointer, UInt64(ciphertext.byteCount), tag.pointer, data.pointer,
            UInt64(data.byteCount), nonce.pointer, key.pointer)
        guard result == 0 else { throw StorageError(.cannotOpen, "the tag does not fit the ciphertext") }
    }

    /// RFC 5869 over libsodium's HMAC-SHA256: extract, then expand block by block.
    func deriveKey(from secret: RawSpan, salt: RawSpan, info: RawSpan, into key: inout MutableRawSpan) {
        var state = crypto_auth_hmacsha256_state()
        var extracted = [UInt8](repeating: 0, count: 32)
        var block = extracted
        crypto_auth_hmacsha256_init(&state, salt.pointer, salt.byteCount)
        crypto_auth_hmacsha256_update(&state, secret.pointer, UInt64(secret.byteCount))
        crypto_auth_hmacsha256_final(&state, &extracted)
        for start in stride(from: 0, to: key.byteCount, by: block.count) {
            var number = UInt8(start / block.count + 1)
            crypto_auth_hmacsha256_init(&state, extracted, extracted.count)
            if start > 0 { crypto_auth_hmacsha256_update(&state, block, UInt64(block.count)) }
            crypto_auth_hmacsha256_update(&state, info.pointer, UInt64(info.byteCount))
            crypto_auth_hmacsha256_update(&state, &number, 1)
            crypto_auth_hmacsha256_final(&state, &block)
            let count = min(block.count, key.byteCount - start)
            (key.pointer() + start).update(from: block, count: count)
        }
        // What is left of keys in memory of the provider's own is zeroed before it returns.
        sodium_memzero(&state, MemoryLayout.size(ofValue: state))
        sodium_memzero(&extracted, extracted.count)
        sodium_memzero(&block, block.count)
    }

    /// libsodium asks the system each time, so a process and its copy by fork(2) draw different bytes.
    func random(into bytes: inout MutableRawSpan) { randombytes_buf(bytes.pointer(), bytes.byteCount) }
}

// A span borrows its bytes for the whole call, so C functions may use them until it returns. C wants an address
// even where there are no bytes.

nonisolated(unsafe) private let nowhere = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)

extension RawSpan {
    fileprivate var pointer: UnsafePointer<UInt8> {
        withUnsafeBytes { $0.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? UnsafePointer(nowhere) }
    }
}

extension MutableRawSpan {
    fileprivate mutating func pointer() -> UnsafeMutablePointer<UInt8> {
        withUnsafeMutableBytes { $0.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? nowhere }
    }
}
