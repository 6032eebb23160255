internal import COpenSSL
internal import LocalDataPluginAPI

/// X25519, RFC 7748. Keys are in OpenSSL's own memory during a call and are overwritten there.
enum X25519 {
    private static let name = "X25519"

    /// Whether OpenSSL offers it.
    static let isOffered: Bool = {
        guard let agreement = EVP_KEYEXCH_fetch(nil, name, nil) else { return false }
        EVP_KEYEXCH_free(agreement)
        return true
    }()

    static func publicKey(of privateKey: RawSpan, into publicKey: inout MutableRawSpan) throws {
        try RawKey.writePublicKey(of: privateKey, name, into: &publicKey)
    }

    /// - Throws: `securityApplicationFailed` if the secret is all zeros.
    static func sharedSecret(
        of privateKey: RawSpan, with publicKey: RawSpan, into secret: inout MutableRawSpan
    ) throws {
        let key = privateKey.withUnsafeBytes {
            EVP_PKEY_new_raw_private_key_ex(nil, name, nil, $0.bytePointer, $0.count)
        }
        let peer = publicKey.withUnsafeBytes {
            EVP_PKEY_new_raw_public_key_ex(nil, name, nil, $0.bytePointer, $0.count)
        }
        let context = key.flatMap { EVP_PKEY_CTX_new_from_pkey(nil, $0, nil) }
        defer {
            EVP_PKEY_CTX_free(context)
            EVP_PKEY_free(peer)
            EVP_PKEY_free(key)
            clear_stack_below()
        }
        guard let context, let peer, EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, peer) == 1
        else { throw OpenSSLLibrary.failure("start of X25519") }
        try secret.withUnsafeMutableBytes { secret in
            var count = secret.count
            // With keys that it has accepted, OpenSSL fails only for a secret of zeros.
            guard EVP_PKEY_derive(context, secret.bytePointer, &count) == 1, count == secret.count else {
                OPENSSL_cleanse(secret.baseAddress, secret.count)
                OpenSSLLibrary.forgetReasons()
                throw StorageError(
                    .securityApplicationFailed, "X25519: the public key is of small order, the shared secret all zeros",
                    hint: "do not trust the source of this public key")
            }
        }
    }
}
