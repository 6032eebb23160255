internal import COpenSSL
internal import LocalDataAPI

/// Keys of curves, which are bytes at the plugin boundary and objects of OpenSSL's here.
enum RawKey {
    /// A private key, to be freed with `EVP_PKEY_free`.
    ///
    /// - Parameter algorithm: OpenSSL's name of the function.
    static func load(_ privateKey: RawSpan, of algorithm: String) throws -> OpaquePointer {
        let key = privateKey.withUnsafeBytes {
            EVP_PKEY_new_raw_private_key_ex(nil, algorithm, nil, $0.bytePointer, $0.count)
        }
        guard let key else { throw LibraryState.failure("EVP_PKEY_new_raw_private_key_ex") }
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
            try LibraryState.check(
                "EVP_PKEY_get_raw_public_key", EVP_PKEY_get_raw_public_key(key, publicKey.bytePointer, &count))
        }
    }
}
