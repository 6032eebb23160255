/// A provider that also signs. Ability `localdata.crypto.signatures/1`.
///
/// The host checks the sizes of keys and signatures before it calls a method. A method zeroes its copies of private
/// keys, and of what it derives from them, before it returns.
public protocol SigningProvider: CryptoProvider {
    /// The signature algorithms that it offers.
    var signatures: [SignatureAlgorithm] { get }

    /// The public key of a private key.
    func publicKey(
        ofSigningKey privateKey: RawSpan, for algorithm: SignatureAlgorithm, into publicKey: inout MutableRawSpan
    ) throws

    /// Signs a message, which may be empty. The same key and message always give the same signature.
    func sign(
        _ message: RawSpan, with privateKey: RawSpan, by algorithm: SignatureAlgorithm,
        into signature: inout MutableRawSpan) throws

    /// Checks a signature; throws `cannotOpen` if it is wrong.
    ///
    /// Members of a sync group must agree about every signature, so every provider accepts exactly the same ones. With
    /// the names of RFC 8032 (5.1.7), a signature is right if
    ///
    /// - S is less than the group's order,
    /// - the public key A and the point R are encoded with y less than p, and neither has a small order,
    /// - [S]B = R + [k]A, without a factor of 8 on both sides.
    ///
    /// A library that checks less needs additional checks in its provider.
    func verify(
        _ signature: RawSpan, of message: RawSpan, with publicKey: RawSpan, by algorithm: SignatureAlgorithm) throws
}
