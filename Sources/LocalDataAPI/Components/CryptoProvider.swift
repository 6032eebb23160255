public import FoundationEssentials

/// Seals and opens for the host's envelope. This is the protocol that a crypto plugin implements.
///
/// The host decides formats, nonces and keys; a provider only computes. An implementation upholds:
///
/// - **Standards.** What it declares is exactly the named algorithm, so that another provider opens what it sealed.
/// - **Nothing unverified.** `open` hands out no byte before the tag has been checked, and a wrong tag is
///   `securityApplicationFailed` with no detail that depends on the key or the plaintext.
/// - **Lengths.** A key or nonce of another length than declared is refused, never padded or cut.
/// - **Secrets.** Key material and plaintext buffers of its own are zeroed before they are freed, and appear in no
///   error or log.
/// - **Threads.** Every method is called from many threads at once, and never waits.
public protocol CryptoProvider: Sendable {
    /// How the component presents itself.
    static var component: ComponentInfo { get }

    /// Opens the provider; throws `unsupported` if the machine lacks what it needs.
    init(options: ComponentOptions, host: HostServices) throws

    /// The authenticated ciphers that it offers on this machine.
    var ciphers: [AuthenticatedCipher] { get }

    /// Encrypts and authenticates; the result is ciphertext followed by the tag.
    func seal(
        _ plaintext: RawSpan, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
        authenticating data: RawSpan
    ) throws -> Data

    /// Checks the tag at the end of `ciphertext`, then decrypts.
    func open(
        _ ciphertext: RawSpan, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
        authenticating data: RawSpan
    ) throws -> Data

    /// HKDF-SHA256 (RFC 5869), extract and expand; at most 8,160 bytes.
    func deriveKey(from material: RawSpan, salt: RawSpan, info: RawSpan, count: Int) throws -> Data

    /// PBKDF2-HMAC-SHA256 (RFC 8018). May take seconds.
    func deriveKey(fromPassphrase passphrase: RawSpan, salt: RawSpan, iterations: Int, count: Int) throws -> Data

    /// Bytes from a cryptographically secure generator.
    func randomBytes(_ count: Int) throws -> Data
}
