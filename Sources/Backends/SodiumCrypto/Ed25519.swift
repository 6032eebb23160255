internal import CSodium
internal import LocalDataPluginAPI

/// Ed25519, RFC 8032. libsodium calls the private key a seed; its own private keys are seed and public key.
enum Ed25519 {
    static func publicKey(of privateKey: RawSpan, into publicKey: inout MutableRawSpan) throws {
        let status = publicKey.withUnsafeMutableBytes { publicKey in
            withKeyPair(of: privateKey) { pair, ownPublicKey in
                publicKey.bytePointer.update(from: ownPublicKey, count: 32)
                return 0
            }
        }
        guard status == 0 else { throw StorageError(.unknown, "libsodium failed to compute an Ed25519 public key") }
    }

    static func sign(
        _ message: RawSpan, with privateKey: RawSpan, into signature: inout MutableRawSpan
    ) throws {
        let status = signature.withUnsafeMutableBytes { signature in
            message.withUnsafeBytes { message in
                withKeyPair(of: privateKey) { pair, _ in
                    crypto_sign_ed25519_detached(
                        signature.bytePointer, nil, message.bytePointer, UInt64(message.count), pair)
                }
            }
        }
        guard status == 0 else { throw StorageError(.unknown, "libsodium failed to sign with Ed25519") }
    }

    /// libsodium makes all checks that ``SigningProvider`` names.
    ///
    /// - Throws: `cannotOpen` if it is wrong.
    static func verify(_ signature: RawSpan, of message: RawSpan, with publicKey: RawSpan) throws {
        let status = signature.withUnsafeBytes { signature in
            message.withUnsafeBytes { message in
                publicKey.withUnsafeBytes {
                    crypto_sign_ed25519_verify_detached(
                        signature.bytePointer, message.bytePointer, UInt64(message.count), $0.bytePointer)
                }
            }
        }
        guard status == 0 else {
            throw StorageError(.cannotOpen, "Ed25519: the signature does not match the public key and the message")
        }
    }

    /// Lends libsodium's form of a private key, and the public key; returns what `body` does, or what libsodium
    /// returned if it failed. The memory is cleared afterwards.
    private static func withKeyPair(
        of privateKey: RawSpan, _ body: (UnsafePointer<UInt8>, UnsafePointer<UInt8>) -> Int32
    ) -> Int32 {
        withUnsafeTemporaryAllocation(byteCount: 96, alignment: 16) { work in
            defer { sodium_memzero(work.bytePointer, work.count) }
            let (pair, publicKey) = (work.bytePointer, work.bytePointer + 64)
            let status = privateKey.withUnsafeBytes {
                crypto_sign_ed25519_seed_keypair(publicKey, pair, $0.bytePointer)
            }
            return status == 0 ? body(pair, publicKey) : status
        }
    }
}
