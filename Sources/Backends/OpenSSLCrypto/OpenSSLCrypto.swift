internal import COpenSSL
internal import Glibc
internal import LocalDataPluginAPI

/// A crypto provider that uses OpenSSL 3, with the algorithms of its default library context.
///
/// Algorithms are looked up once per process. If a machine's OpenSSL is configured without one, e.g. with a FIPS
/// provider, this provider does not offer it.
struct OpenSSLCrypto: CryptoProvider, SigningProvider {
    static let component = ComponentInfo(id: "openssl", summary: "computes with OpenSSL's libcrypto")

    let ciphers: [AuthenticatedCipher]
    let derivations: [KeyDerivationFunction]
    let agreements: [KeyAgreement]
    let signatures: [SignatureAlgorithm]

    private let aes256GCM: ProvidedCipher?
    private let chaCha20Poly1305: ProvidedCipher?

    /// - Throws: `unsupported` if OpenSSL offers no SHA-256, which every derivation needs.
    init(options: ComponentOptions, host: HostServices) throws {
        OpenSSLLibrary.prepare()
        guard SHA2.Variant.sha256.isOffered else {
            throw StorageError(
                .unsupported, "OpenSSL offers no SHA-256: \(OpenSSLLibrary.takeReason())",
                hint: "check the configuration of OpenSSL (openssl.cnf)")
        }
        aes256GCM = ProvidedCipher.aes256GCM
        chaCha20Poly1305 = ProvidedCipher.chaCha20Poly1305
        ciphers = [
            aes256GCM == nil ? nil : .aes256GCM, chaCha20Poly1305 == nil ? nil : .chaCha20Poly1305,
        ].compactMap { $0 }
        let (derivesFromPasswords, hasSHA512) = (PasswordDerivation.isOffered, SHA2.Variant.sha512.isOffered)
        derivations = [
            .hkdfSHA256, derivesFromPasswords ? .pbkdf2HMACSHA256 : nil, hasSHA512 ? .hkdfSHA512 : nil,
            hasSHA512 && derivesFromPasswords ? .pbkdf2HMACSHA512 : nil,
        ].compactMap { $0 }
        agreements = X25519.isOffered ? [.x25519] : []
        signatures = Ed25519.isOffered ? [.ed25519] : []
        OpenSSLLibrary.forgetReasons()
    }

    @inline(__always)
    private func provided(_ cipher: AuthenticatedCipher) throws -> ProvidedCipher {
        let provided = cipher.id == AuthenticatedCipher.aes256GCM.id ? aes256GCM : chaCha20Poly1305
        guard let provided else { throw StorageError(.unsupported, "OpenSSL offers no \(cipher)") }
        return provided
    }

    func seal(
        _ plaintext: RawSpan, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
        authenticating data: RawSpan, ciphertext: inout MutableRawSpan, tag: inout MutableRawSpan
    ) throws {
        let context = try CipherContext(provided(cipher))
        try context.begin(.seal, key: key, nonce: nonce)
        try context.authenticate(data)
        try context.update(plaintext, into: &ciphertext)
        try context.finish()
        try context.takeTag(into: &tag)
    }

    func open(
        _ ciphertext: RawSpan, tag: RawSpan, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
        authenticating data: RawSpan, plaintext: inout MutableRawSpan
    ) throws {
        let context = try CipherContext(provided(cipher))
        try context.begin(.open, key: key, nonce: nonce)
        try context.expect(tag)
        try context.authenticate(data)
        try context.update(ciphertext, into: &plaintext)
        try context.verify(cipher)
    }

    func deriveKey(
        from secret: RawSpan, salt: RawSpan, info: RawSpan, into key: inout MutableRawSpan
    ) throws { try HKDF.derive(by: .sha256, from: secret, salt: salt, info: info, into: &key) }

    func deriveKeyBySHA512(
        from secret: RawSpan, salt: RawSpan, info: RawSpan, into key: inout MutableRawSpan
    ) throws { try HKDF.derive(by: .sha512, from: secret, salt: salt, info: info, into: &key) }

    func deriveKey(
        fromPassphrase passphrase: RawSpan, salt: RawSpan, iterations: UInt64, into key: inout MutableRawSpan
    ) throws {
        try PasswordDerivation.derive(
            by: .sha256, from: passphrase, salt: salt, iterations: iterations, into: &key)
    }

    func deriveKeyBySHA512(
        fromPassphrase passphrase: RawSpan, salt: RawSpan, iterations: UInt64, into key: inout MutableRawSpan
    ) throws {
        try PasswordDerivation.derive(
            by: .sha512, from: passphrase, salt: salt, iterations: iterations, into: &key)
    }

    /// From the system's generator, see getentropy(3), which also seeds OpenSSL's. It has no state in this process that
    /// fork(2) or a restored snapshot could duplicate, and for a salt it takes a sixth of the time of OpenSSL's.
    func random(into bytes: inout MutableRawSpan) throws {
        try bytes.withUnsafeMutableBytes { bytes throws(StorageError) in
            for start in stride(from: 0, to: bytes.count, by: Self.mostRandom) {
                let piece = UnsafeMutableRawBufferPointer(rebasing: bytes[start...].prefix(Self.mostRandom))
                guard getentropy(piece.baseAddress, piece.count) == 0 else {
                    throw StorageError(
                        .securityApplicationFailed, "the system gives no random bytes: error \(errno)",
                        hint: "allow the process to call getrandom(2)")
                }
            }
        }
    }

    /// The most bytes per call.
    private static let mostRandom = 256

    func publicKey(
        of privateKey: RawSpan, for agreement: KeyAgreement, into publicKey: inout MutableRawSpan
    ) throws { try X25519.publicKey(of: privateKey, into: &publicKey) }

    func sharedSecret(
        of privateKey: RawSpan, with publicKey: RawSpan, by agreement: KeyAgreement, into secret: inout MutableRawSpan
    ) throws { try X25519.sharedSecret(of: privateKey, with: publicKey, into: &secret) }

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
            throw OpenSSLLibrary.failure("EVP_KDF_CTX_new of PBKDF2")
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
                    try OpenSSLLibrary.check(
                        "PBKDF2", EVP_KDF_derive(context, key.bytePointer, key.count, parameters))
                }
            }
        }
    }
}
