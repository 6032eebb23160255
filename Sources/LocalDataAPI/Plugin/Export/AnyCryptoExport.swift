internal import CLocalData

/// A crypto provider of some Swift type, as its table's C functions use it.
class AnyCryptoExport {
    let sizes: [Int32: ld_algorithm]
    /// One bit per algorithm with a number below 64, as all ciphers have; checked in every call.
    private let offered: UInt64
    var signatures: UnsafePointer<ld_crypto_signatures>?

    init(_ algorithms: [ld_algorithm]) {
        sizes = Dictionary(algorithms.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        offered = algorithms.reduce(0) { $0 | ($1.id >= 0 && $1.id < 64 ? 1 << UInt64($1.id) : 0) }
    }

    /// Whether the provider offers the algorithm with this number, which must be below 64.
    @inline(__always)
    final func offers(_ id: Int32) -> Bool { id >= 0 && id < 64 && offered & (1 << UInt64(id)) != 0 }

    func seal(
        _ plaintext: RawSpan, _ cipher: AuthenticatedCipher, _ key: RawSpan, _ nonce: RawSpan, _ data: RawSpan,
        _ ciphertext: inout MutableRawSpan, _ tag: inout MutableRawSpan
    ) throws {}
    func open(
        _ ciphertext: RawSpan, _ tag: RawSpan, _ cipher: AuthenticatedCipher, _ key: RawSpan, _ nonce: RawSpan,
        _ data: RawSpan, _ plaintext: inout MutableRawSpan
    ) throws {}
    func derive(_ function: KeyDerivationFunction, _ parameters: ld_derivation, _ key: inout MutableRawSpan) throws {}
    func random(_ bytes: inout MutableRawSpan) throws {}
    func publicKey(_ privateKey: RawSpan, _ agreement: KeyAgreement, _ publicKey: inout MutableRawSpan) throws {}
    func sharedSecret(
        _ privateKey: RawSpan, _ publicKey: RawSpan, _ agreement: KeyAgreement, _ secret: inout MutableRawSpan
    ) throws {}
    func signingPublicKey(
        _ privateKey: RawSpan, _ algorithm: SignatureAlgorithm, _ publicKey: inout MutableRawSpan
    ) throws {}
    func sign(
        _ message: RawSpan, _ privateKey: RawSpan, _ algorithm: SignatureAlgorithm, _ signature: inout MutableRawSpan
    ) throws {}
    func verify(
        _ signature: RawSpan, _ message: RawSpan, _ publicKey: RawSpan, _ algorithm: SignatureAlgorithm
    ) throws { throw StorageError(.unsupported) }
}
