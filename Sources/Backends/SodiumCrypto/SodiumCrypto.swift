internal import CSodium
internal import LocalDataPluginAPI

/// A crypto provider that uses libsodium.
///
/// AES-256-GCM is offered only if the processor has instructions for it: libsodium has no other implementation, since
/// one with tables would leak keys through timing.
struct SodiumCrypto: CryptoProvider, SigningProvider {
    static let component = ComponentInfo(id: "sodium", summary: "computes with libsodium")

    let ciphers: [AuthenticatedCipher]
    let derivations = KeyDerivationFunction.allCases
    let agreements: [KeyAgreement] = [.x25519]
    let signatures: [SignatureAlgorithm] = [.ed25519]

    /// Negative if libsodium could not start, which it tries once per process.
    private static let start = sodium_init()

    /// - Throws: `unsupported` if libsodium cannot start, as without a source of random numbers.
    init(options: ComponentOptions, host: HostServices) throws {
        guard Self.start >= 0 else {
            throw StorageError(
                .unsupported, "libsodium cannot start: it found no source of random numbers",
                hint: "give the process /dev/urandom or the system call getrandom")
        }
        let common: [AuthenticatedCipher] = [.chaCha20Poly1305, .xChaCha20Poly1305]
        ciphers = crypto_aead_aes256gcm_is_available() == 1 ? common + [.aes256GCM] : common
    }

    func seal(
        _ plaintext: RawSpan, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
        authenticating data: RawSpan, ciphertext: inout MutableRawSpan, tag: inout MutableRawSpan
    ) throws {
        let status = ciphertext.withUnsafeMutableBytes { ciphertext in
            tag.withUnsafeMutableBytes { tag in
                plaintext.withUnsafeBytes { plaintext in
                    key.withUnsafeBytes { key in
                        nonce.withUnsafeBytes { nonce in
                            data.withUnsafeBytes { data in
                                SodiumCipher(cipher, key: key, nonce: nonce, data: data)
                                    .seal(plaintext, into: ciphertext, tag: tag)
                            }
                        }
                    }
                }
            }
        }
        guard status == 0 else { throw StorageError(.unknown, "libsodium failed to seal with \(cipher) (\(status))") }
    }

    func open(
        _ ciphertext: RawSpan, tag: RawSpan, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
        authenticating data: RawSpan, plaintext: inout MutableRawSpan
    ) throws {
        let status = plaintext.withUnsafeMutableBytes { plaintext in
            tag.withUnsafeBytes { tag in
                ciphertext.withUnsafeBytes { ciphertext in
                    key.withUnsafeBytes { key in
                        nonce.withUnsafeBytes { nonce in
                            data.withUnsafeBytes { data in
                                SodiumCipher(cipher, key: key, nonce: nonce, data: data)
                                    .open(ciphertext, tag: tag, into: plaintext)
                            }
                        }
                    }
                }
            }
        }
        guard status == 0 else { throw SodiumCipher.wrongTag(cipher) }
    }

    func deriveKey(
        from secret: RawSpan, salt: RawSpan, info: RawSpan, into key: inout MutableRawSpan
    ) throws { HKDF<HMACSHA256>.derive(from: secret, salt: salt, info: info, into: &key) }

    func deriveKeyBySHA512(
        from secret: RawSpan, salt: RawSpan, info: RawSpan, into key: inout MutableRawSpan
    ) throws { HKDF<HMACSHA512>.derive(from: secret, salt: salt, info: info, into: &key) }

    func deriveKey(
        fromPassphrase passphrase: RawSpan, salt: RawSpan, iterations: UInt64, into key: inout MutableRawSpan
    ) throws { PBKDF2<HMACSHA256>.derive(from: passphrase, salt: salt, iterations: iterations, into: &key) }

    func deriveKeyBySHA512(
        fromPassphrase passphrase: RawSpan, salt: RawSpan, iterations: UInt64, into key: inout MutableRawSpan
    ) throws { PBKDF2<HMACSHA512>.derive(from: passphrase, salt: salt, iterations: iterations, into: &key) }

    func deriveKey(
        fromPassphrase passphrase: RawSpan, salt: RawSpan, passes: UInt64, memory: UInt64, lanes: UInt32,
        into key: inout MutableRawSpan
    ) throws {
        try Argon2id(passes: passes, memory: memory, lanes: lanes).derive(from: passphrase, salt: salt, into: &key)
    }

    /// From libsodium's generator, which calls the system's each time.
    func random(into bytes: inout MutableRawSpan) throws {
        bytes.withUnsafeMutableBytes { randombytes_buf($0.bytePointer, $0.count) }
    }

    func publicKey(
        of privateKey: RawSpan, for agreement: KeyAgreement, into publicKey: inout MutableRawSpan
    ) throws {
        let status = publicKey.withUnsafeMutableBytes { publicKey in
            privateKey.withUnsafeBytes { crypto_scalarmult_curve25519_base(publicKey.bytePointer, $0.bytePointer) }
        }
        guard status == 0 else { throw StorageError(.unknown, "libsodium failed to compute an X25519 public key") }
    }

    func sharedSecret(
        of privateKey: RawSpan, with publicKey: RawSpan, by agreement: KeyAgreement, into secret: inout MutableRawSpan
    ) throws {
        let status = secret.withUnsafeMutableBytes { secret in
            let status = privateKey.withUnsafeBytes { privateKey in
                publicKey.withUnsafeBytes {
                    crypto_scalarmult_curve25519(secret.bytePointer, privateKey.bytePointer, $0.bytePointer)
                }
            }
            if status != 0 { sodium_memzero(secret.bytePointer, secret.count) }
            return status
        }
        guard status == 0 else {
            throw StorageError(
                .securityApplicationFailed, "X25519: the public key is of small order, the shared secret all zeros",
                hint: "do not trust the source of this public key")
        }
    }

    func publicKey(
        ofSigningKey privateKey: RawSpan, for algorithm: SignatureAlgorithm, into publicKey: inout MutableRawSpan
    ) throws { try Ed25519.publicKey(of: privateKey, into: &publicKey) }

    func sign(
        _ message: RawSpan, with privateKey: RawSpan, by algorithm: SignatureAlgorithm,
        into signature: inout MutableRawSpan
    ) throws { try Ed25519.sign(message, with: privateKey, into: &signature) }

    func verify(
        _ signature: RawSpan, of message: RawSpan, with publicKey: RawSpan, by algorithm: SignatureAlgorithm
    ) throws { try Ed25519.verify(signature, of: message, with: publicKey) }
}

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
