internal import COpenSSL
internal import LocalDataAPI

/// PBKDF2, RFC 8018, by OpenSSL's own.
enum PasswordDerivation {
    private struct Shared: @unchecked Sendable {
        // Made once and never freed; OpenSSL lets many threads use it at once.
        let function: OpaquePointer
    }

    private static let shared = EVP_KDF_fetch(nil, "PBKDF2", nil).map { Shared(function: $0) }

    /// Whether OpenSSL offers it.
    static var isOffered: Bool { shared != nil }

    static func derive(
        by variant: SHA2.Variant, from passphrase: RawSpan, salt: RawSpan, iterations: UInt64,
        into key: inout MutableRawSpan
    ) throws {
        guard let shared, let context = EVP_KDF_CTX_new(shared.function) else {
            throw LibraryState.failure("EVP_KDF_CTX_new of PBKDF2")
        }
        // Overwrites the passphrase that the context keeps.
        defer { EVP_KDF_CTX_free(context) }
        // The least lengths of SP 800-132 are the caller's business: what was sealed under less has to open.
        var hasNoLeastLengths: UInt64 = 1
        var iterations = iterations
        try key.withUnsafeMutableBytes { key in
            try passphrase.withUnsafeBytes { passphrase in
                try salt.withUnsafeBytes { salt in
                    let parameters: [OSSL_PARAM] = [
                        .text("digest", variant.name), .bytes("pass", passphrase), .bytes("salt", salt),
                        .number("iter", &iterations), .number("pkcs5", &hasNoLeastLengths), .end,
                    ]
                    try LibraryState.check(
                        "PBKDF2", EVP_KDF_derive(context, key.bytePointer, key.count, parameters))
                }
            }
        }
    }
}
