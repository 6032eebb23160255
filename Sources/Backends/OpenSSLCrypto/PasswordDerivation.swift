internal import COpenSSL
internal import LocalDataAPI

/// OpenSSL's PBKDF2, RFC 8018.
enum PasswordDerivation {
    private struct Shared: @unchecked Sendable {
        // Created once and never freed; OpenSSL allows concurrent use.
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
        // Overwrites the passphrase in the context.
        defer { EVP_KDF_CTX_free(context) }
        // The caller decides on the minimum lengths of SP 800-132: values sealed with less must open.
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
