/// Performs the cryptography of the host's envelope and key ring. This is the protocol that a crypto plugin implements.
///
/// The host decides formats, nonces and keys; a provider only computes. An implementation upholds:
///
/// - **Standards.** A declared algorithm is exactly the named one, so that another provider opens what this one sealed.
/// - **Nothing unverified.** With a wrong tag, `open` throws `cannotOpen` and leaves only zeros in its output. Neither
///   its duration nor its text depends on a key or plaintext.
/// - **Sizes.** The boundary checks keys, nonces, tags and outputs against the algorithm's sizes before it calls a
///   method. Outputs have exactly the length of what is written to them and overlap no input.
/// - **Secrets.** A method zeroes its own copies of key material and plaintext before it returns, and puts neither into
///   an error or log.
/// - **Threads.** Many threads call every method at once. A method waits for nothing but the processor.
/// - **Nonces.** The host promises never to use a nonce twice with one key.
public protocol CryptoProvider: Sendable {
    /// How the component presents itself.
    static var component: ComponentInfo { get }

    /// Opens the provider; throws `unsupported` if the machine lacks a feature that it needs.
    init(options: ComponentOptions, host: HostServices) throws

    /// The authenticated ciphers that it offers on this machine; constant while the provider is open.
    var ciphers: [AuthenticatedCipher] { get }

    /// The derivations that it offers: at least HKDF-SHA256.
    var derivations: [KeyDerivationFunction] { get }

    /// The key agreements that it offers.
    var agreements: [KeyAgreement] { get }

    /// Encrypts and authenticates; `ciphertext` is as long as `plaintext`.
    func seal(
        _ plaintext: RawSpan, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
        authenticating data: RawSpan, ciphertext: inout MutableRawSpan, tag: inout MutableRawSpan) throws

    /// Checks the tag, then decrypts; `plaintext` is as long as `ciphertext`.
    func open(
        _ ciphertext: RawSpan, tag: RawSpan, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
        authenticating data: RawSpan, plaintext: inout MutableRawSpan) throws

    /// HKDF-SHA256, extract and expand. Secret, salt and info may be empty.
    func deriveKey(from secret: RawSpan, salt: RawSpan, info: RawSpan, into key: inout MutableRawSpan) throws

    /// PBKDF2-HMAC-SHA256. May take seconds.
    func deriveKey(
        fromPassphrase passphrase: RawSpan, salt: RawSpan, iterations: UInt64, into key: inout MutableRawSpan) throws

    /// HKDF-SHA512, extract and expand. Secret, salt and info may be empty.
    func deriveKeyBySHA512(
        from secret: RawSpan, salt: RawSpan, info: RawSpan, into key: inout MutableRawSpan) throws

    /// PBKDF2-HMAC-SHA512. May take seconds.
    func deriveKeyBySHA512(
        fromPassphrase passphrase: RawSpan, salt: RawSpan, iterations: UInt64, into key: inout MutableRawSpan) throws

    /// Argon2id, version 0x13, with `memory` in bytes. May take seconds.
    func deriveKey(
        fromPassphrase passphrase: RawSpan, salt: RawSpan, passes: UInt64, memory: UInt64, lanes: UInt32,
        into key: inout MutableRawSpan) throws

    /// Fills `bytes` from a cryptographically secure generator that is safe after fork(2).
    func random(into bytes: inout MutableRawSpan) throws

    /// The public key of a private key.
    func publicKey(
        of privateKey: RawSpan, for agreement: KeyAgreement, into publicKey: inout MutableRawSpan) throws

    /// The shared secret. Throws `securityApplicationFailed` if it is all zeros, as with a public key of small order.
    func sharedSecret(
        of privateKey: RawSpan, with publicKey: RawSpan, by agreement: KeyAgreement, into secret: inout MutableRawSpan
    ) throws
}

/// Defaults for algorithms that a provider does not declare; the boundary refuses such calls beforehand.
extension CryptoProvider {
    /// Throws `unsupported`.
    public func deriveKey(
        fromPassphrase passphrase: RawSpan, salt: RawSpan, iterations: UInt64, into key: inout MutableRawSpan
    ) throws { throw StorageError(.unsupported, "the provider has no PBKDF2-HMAC-SHA256") }

    /// Throws `unsupported`.
    public func deriveKeyBySHA512(
        from secret: RawSpan, salt: RawSpan, info: RawSpan, into key: inout MutableRawSpan
    ) throws { throw StorageError(.unsupported, "the provider has no HKDF-SHA512") }

    /// Throws `unsupported`.
    public func deriveKeyBySHA512(
        fromPassphrase passphrase: RawSpan, salt: RawSpan, iterations: UInt64, into key: inout MutableRawSpan
    ) throws { throw StorageError(.unsupported, "the provider has no PBKDF2-HMAC-SHA512") }

    /// Throws `unsupported`.
    public func deriveKey(
        fromPassphrase passphrase: RawSpan, salt: RawSpan, passes: UInt64, memory: UInt64, lanes: UInt32,
        into key: inout MutableRawSpan
    ) throws { throw StorageError(.unsupported, "the provider has no Argon2id") }

    /// Throws `unsupported`.
    public func publicKey(
        of privateKey: RawSpan, for agreement: KeyAgreement, into publicKey: inout MutableRawSpan
    ) throws { throw StorageError(.unsupported, "the provider has no \(agreement)") }

    /// Throws `unsupported`.
    public func sharedSecret(
        of privateKey: RawSpan, with publicKey: RawSpan, by agreement: KeyAgreement, into secret: inout MutableRawSpan
    ) throws { throw StorageError(.unsupported, "the provider has no \(agreement)") }
}
