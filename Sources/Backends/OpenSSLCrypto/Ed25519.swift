internal import COpenSSL
internal import LocalDataPluginAPI

/// Ed25519, RFC 8032. Keys are in OpenSSL's own memory during a call and are overwritten there.
enum Ed25519 {
    private static let name = "ED25519"

    /// Whether OpenSSL offers it.
    static let isOffered: Bool = {
        guard let signature = EVP_SIGNATURE_fetch(nil, name, nil) else { return false }
        EVP_SIGNATURE_free(signature)
        return true
    }()

    static func publicKey(of privateKey: RawSpan, into publicKey: inout MutableRawSpan) throws {
        try RawKey.writePublicKey(of: privateKey, name, into: &publicKey)
    }

    static func sign(
        _ message: RawSpan, with privateKey: RawSpan, into signature: inout MutableRawSpan
    ) throws {
        let key = try RawKey.load(privateKey, of: name)
        let context = EVP_MD_CTX_new()
        defer {
            EVP_MD_CTX_free(context)
            EVP_PKEY_free(key)
            clear_stack_below()
        }
        guard let context, EVP_DigestSignInit_ex(context, nil, nil, nil, nil, key, nil) == 1 else {
            throw OpenSSLLibrary.failure("start of an Ed25519 signature")
        }
        let answer = signature.withUnsafeMutableBytes { signature in
            var count = signature.count
            return message.withUnsafeBytes {
                EVP_DigestSign(context, signature.bytePointer, &count, $0.bytePointer, $0.count)
            }
        }
        try OpenSSLLibrary.check("Ed25519 signature", answer)
    }

    /// - Throws: `cannotOpen` if it is wrong.
    static func verify(_ signature: RawSpan, of message: RawSpan, with publicKey: RawSpan) throws {
        let isAcceptable = publicKey.withUnsafeBytes { isStrict($0) } && signature.withUnsafeBytes { isStrict($0) }
        guard isAcceptable, isRight(signature, of: message, with: publicKey) else {
            OpenSSLLibrary.forgetReasons()
            throw StorageError(.cannotOpen, "Ed25519: the signature does not match the public key and the message")
        }
    }

    /// What OpenSSL says, which checks neither for points of small order nor for a second encoding of the public key.
    private static func isRight(_ signature: RawSpan, of message: RawSpan, with publicKey: RawSpan) -> Bool {
        let key = publicKey.withUnsafeBytes {
            EVP_PKEY_new_raw_public_key_ex(nil, name, nil, $0.bytePointer, $0.count)
        }
        let context = EVP_MD_CTX_new()
        defer {
            EVP_MD_CTX_free(context)
            EVP_PKEY_free(key)
        }
        guard let context, let key, EVP_DigestVerifyInit_ex(context, nil, nil, nil, nil, key, nil) == 1 else {
            return false
        }
        return signature.withUnsafeBytes { signature in
            message.withUnsafeBytes {
                EVP_DigestVerify(context, signature.bytePointer, signature.count, $0.bytePointer, $0.count) == 1
            }
        }
    }
}

// MARK: - Points

extension Ed25519 {
    /// Whether the first 32 bytes encode y below p = 2^255 - 19, and no point of small order. The last bit, the sign of
    /// x, is ignored.
    private static func isStrict(_ point: UnsafeRawBufferPointer) -> Bool {
        var y = Array(point.prefix(32))
        y[31] &= 0x7f
        return y.reversed().lexicographicallyPrecedes(prime) && !smallOrder.contains(y)
    }

    /// p, highest byte first.
    private static let prime = [0x7f] + [UInt8](repeating: 0xff, count: 30) + [0xed]

    /// y of the eight points whose order divides 8: 0 and the two of order 8, 1 and p - 1. Each stands for both signs
    /// of x.
    private static let smallOrder: Set<[UInt8]> = [
        [UInt8](repeating: 0, count: 32),
        [1] + [UInt8](repeating: 0, count: 31),
        [
            0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf,
            0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
        ],
        [
            0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20,
            0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
        ],
        [0xec] + [UInt8](repeating: 0xff, count: 30) + [0x7f],
    ]
}

/// Keys of curves, which are bytes at the plugin boundary and objects of OpenSSL's here.
enum RawKey {
    /// A private key, to be freed with `EVP_PKEY_free`.
    ///
    /// - Parameter algorithm: OpenSSL's name of the function.
    static func load(_ privateKey: RawSpan, of algorithm: String) throws -> OpaquePointer {
        let key = privateKey.withUnsafeBytes {
            EVP_PKEY_new_raw_private_key_ex(nil, algorithm, nil, $0.bytePointer, $0.count)
        }
        guard let key else { throw OpenSSLLibrary.failure("EVP_PKEY_new_raw_private_key_ex") }
        return key
    }

    /// Writes the public key of a private key.
    static func writePublicKey(
        of privateKey: RawSpan, _ algorithm: String, into publicKey: inout MutableRawSpan
    ) throws {
        let key = try load(privateKey, of: algorithm)
        defer {
            EVP_PKEY_free(key)
            clear_stack_below()
        }
        try publicKey.withUnsafeMutableBytes { publicKey in
            var count = publicKey.count
            try OpenSSLLibrary.check(
                "EVP_PKEY_get_raw_public_key", EVP_PKEY_get_raw_public_key(key, publicKey.bytePointer, &count))
        }
    }
}
