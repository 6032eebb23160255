internal import COpenSSL
internal import Glibc
internal import LocalDataAPI

/// SHA-256 in a context that each thread makes once and uses for one digest after the other.
struct SHA256 {
    /// Bytes of a digest.
    static let size = 32
    /// Bytes that are taken in at once.
    static let blockSize = 64

    private let context: OpaquePointer

    private struct Shared: @unchecked Sendable {
        // Made once and never freed; OpenSSL lets many threads use it at once.
        let digest: OpaquePointer
        let key: pthread_key_t
    }

    private static let shared: Shared? = {
        var key = pthread_key_t()
        guard let digest = EVP_MD_fetch(nil, "SHA256", nil), pthread_key_create(&key, releaseContext) == 0 else {
            return nil
        }
        return Shared(digest: digest, key: key)
    }()

    /// Whether OpenSSL offers it.
    static var isOffered: Bool { shared != nil }

    /// The digest of the calling thread; one at a time is made with it.
    static func ofThread() throws(StorageError) -> SHA256 {
        guard let shared else { throw StorageError(.unsupported, "OpenSSL offers no SHA-256") }
        if let known = pthread_getspecific(shared.key) { return SHA256(context: OpaquePointer(known)) }
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex2(context, shared.digest, nil) == 1,
            pthread_setspecific(shared.key, UnsafeRawPointer(context)) == 0
        else { throw LibraryState.failure("EVP_MD_CTX_new") }
        return SHA256(context: context)
    }

    /// Starts a digest, and forgets the one before.
    func start() throws(StorageError) {
        try LibraryState.check("EVP_DigestInit_ex2", EVP_DigestInit_ex2(context, nil, nil))
    }

    func add(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
        try LibraryState.check("EVP_DigestUpdate", EVP_DigestUpdate(context, bytes.baseAddress, bytes.count))
    }

    /// Writes the digest, 32 bytes. The context knows it until the next `start`.
    func finish(into digest: UnsafeMutableRawBufferPointer) throws(StorageError) {
        precondition(digest.count == Self.size)
        try LibraryState.check("EVP_DigestFinal_ex", EVP_DigestFinal_ex(context, digest.bytePointer, nil))
    }
}

private func releaseContext(_ context: UnsafeMutableRawPointer?) { EVP_MD_CTX_free(OpaquePointer(context)) }
