internal import COpenSSL
internal import Glibc
internal import LocalDataPluginAPI

/// SHA-256 or SHA-512 in a context that each thread creates once and reuses.
struct SHA2 {
    /// The digest function.
    enum Variant {
        case sha256, sha512

        /// The function's name in OpenSSL.
        var name: StaticString { self == .sha256 ? "SHA256" : "SHA512" }
        /// The size of a digest in bytes.
        var size: Int { self == .sha256 ? 32 : 64 }
        /// The block size in bytes.
        var blockSize: Int { self == .sha256 ? 64 : 128 }
        /// Whether OpenSSL offers it.
        var isOffered: Bool { shared != nil }

        fileprivate var shared: Shared? { self == .sha256 ? Shared.sha256 : Shared.sha512 }
    }

    let variant: Variant
    private let context: OpaquePointer

    fileprivate struct Shared: @unchecked Sendable {
        // Created once and never freed; OpenSSL allows concurrent use.
        let digest: OpaquePointer
        let key: pthread_key_t

        static let sha256 = Shared(.sha256)
        static let sha512 = Shared(.sha512)

        private init?(_ variant: Variant) {
            var key = pthread_key_t()
            guard let digest = EVP_MD_fetch(nil, "\(variant.name)", nil), pthread_key_create(&key, releaseContext) == 0
            else {
                return nil
            }
            self.digest = digest
            self.key = key
        }
    }

    /// The digest of the calling thread; it computes one at a time.
    static func ofThread(_ variant: Variant) throws(StorageError) -> SHA2 {
        guard let shared = variant.shared else {
            throw StorageError(.unsupported, "OpenSSL offers no \(variant.name)")
        }
        if let known = pthread_getspecific(shared.key) {
            return SHA2(variant: variant, context: OpaquePointer(known))
        }
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex2(context, shared.digest, nil) == 1,
            pthread_setspecific(shared.key, UnsafeRawPointer(context)) == 0
        else { throw OpenSSLLibrary.failure("EVP_MD_CTX_new") }
        return SHA2(variant: variant, context: context)
    }

    /// Starts a digest, and discards the one before.
    func start() throws(StorageError) {
        try OpenSSLLibrary.check("EVP_DigestInit_ex2", EVP_DigestInit_ex2(context, nil, nil))
    }

    func add(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
        try OpenSSLLibrary.check("EVP_DigestUpdate", EVP_DigestUpdate(context, bytes.baseAddress, bytes.count))
    }

    /// Writes the whole digest. The context keeps it until the next `start`.
    func finish(into digest: UnsafeMutableRawBufferPointer) throws(StorageError) {
        precondition(digest.count == variant.size)
        try OpenSSLLibrary.check("EVP_DigestFinal_ex", EVP_DigestFinal_ex(context, digest.bytePointer, nil))
    }
}

private func releaseContext(_ context: UnsafeMutableRawPointer?) { EVP_MD_CTX_free(OpaquePointer(context)) }
