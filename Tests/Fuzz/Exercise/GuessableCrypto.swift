internal import LocalDataAPI

/// A crypto provider that protects nothing: its tags follow from the nonce alone, so that a fuzzer which changes bytes
/// gets past them, to what readers do with the chunks behind. Only what is exercised opens with it.
struct GuessableCrypto: CryptoProvider {
    static let component = ComponentInfo(id: "guessable", summary: "computes what can be guessed; for fuzzing only")

    let ciphers = AuthenticatedCipher.all
    let derivations = KeyDerivationFunction.allCases
    let agreements: [KeyAgreement] = []

    init(options: ComponentOptions, host: HostServices) throws {}

    /// The end of the nonce, which is the chunk's number and whether it is the last, and as many zeros as fit.
    private static func tagByte(_ index: Int, _ nonce: RawSpan) -> UInt8 {
        index < 9 ? nonce.unsafeLoad(fromByteOffset: nonce.byteCount - 9 + index, as: UInt8.self) : 0
    }

    private static func mask(_ input: RawSpan, into output: inout MutableRawSpan) {
        for index in 0..<input.byteCount {
            let byte = input.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            output.storeBytes(of: byte ^ 0x5A, toByteOffset: index, as: UInt8.self)
        }
    }

    func seal(
        _ plaintext: RawSpan, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
        authenticating data: RawSpan, ciphertext: inout MutableRawSpan, tag: inout MutableRawSpan
    ) throws {
        Self.mask(plaintext, into: &ciphertext)
        for index in 0..<tag.byteCount {
            tag.storeBytes(of: Self.tagByte(index, nonce), toByteOffset: index, as: UInt8.self)
        }
    }

    func open(
        _ ciphertext: RawSpan, tag: RawSpan, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
        authenticating data: RawSpan, plaintext: inout MutableRawSpan
    ) throws {
        for index in 0..<tag.byteCount
        where tag.unsafeLoad(fromByteOffset: index, as: UInt8.self) != Self.tagByte(index, nonce) {
            throw StorageError(.cannotOpen)
        }
        Self.mask(ciphertext, into: &plaintext)
    }

    func deriveKey(from secret: RawSpan, salt: RawSpan, info: RawSpan, into key: inout MutableRawSpan) throws {}
    func deriveKey(
        fromPassphrase passphrase: RawSpan, salt: RawSpan, iterations: UInt64, into key: inout MutableRawSpan
    ) throws {}
    func deriveKey(
        fromPassphrase passphrase: RawSpan, salt: RawSpan, passes: UInt64, memory: UInt64, lanes: UInt32,
        into key: inout MutableRawSpan
    ) throws {}
    func random(into bytes: inout MutableRawSpan) throws {}
}
