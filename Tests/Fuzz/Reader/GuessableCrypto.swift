internal import LocalDataAPI

/// A crypto provider that protects nothing: its tags follow from the nonce alone, and it accepts every signature. So a
/// fuzzer that changes bytes gets past the checks, to the code that reads the bytes after them. Only exercises open
/// with it.
struct GuessableCrypto: SigningProvider {
    static let component = ComponentInfo(id: "guessable", summary: "computes what can be guessed; for fuzzing only")

    let ciphers = AuthenticatedCipher.all
    let derivations = KeyDerivationFunction.allCases
    let agreements = KeyAgreement.allCases
    let signatures = SignatureAlgorithm.allCases

    init(options: ComponentOptions, host: HostServices) throws {}

    /// The end of the nonce, which is the chunk's number and a flag for the last chunk, and as many zeros as fit.
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

    /// Different for different inputs, as hashes have to be.
    func deriveKey(from secret: RawSpan, salt: RawSpan, info: RawSpan, into key: inout MutableRawSpan) throws {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        Self.add(secret, to: &hash)
        Self.add(salt, to: &hash)
        Self.add(info, to: &hash)
        for index in 0..<key.byteCount {
            key.storeBytes(of: UInt8(truncatingIfNeeded: hash >> 56), toByteOffset: index, as: UInt8.self)
            hash = (hash ^ UInt64(index)) &* 0x100_0000_01B3
        }
    }
    func deriveKey(
        fromPassphrase passphrase: RawSpan, salt: RawSpan, iterations: UInt64, into key: inout MutableRawSpan
    ) throws {}
    func deriveKey(
        fromPassphrase passphrase: RawSpan, salt: RawSpan, passes: UInt64, memory: UInt64, lanes: UInt32,
        into key: inout MutableRawSpan
    ) throws {}
    func random(into bytes: inout MutableRawSpan) throws {}

    /// FNV-1a.
    private static func add(_ input: RawSpan, to hash: inout UInt64) {
        for index in 0..<input.byteCount {
            hash = (hash ^ UInt64(input.unsafeLoad(fromByteOffset: index, as: UInt8.self))) &* 0x100_0000_01B3
        }
        hash = (hash ^ UInt64(input.byteCount)) &* 0x100_0000_01B3
    }

    // A public key is the private one.
    func publicKey(
        of privateKey: RawSpan, for agreement: KeyAgreement, into publicKey: inout MutableRawSpan
    ) throws { Self.copy(privateKey, into: &publicKey) }

    func publicKey(
        ofSigningKey privateKey: RawSpan, for algorithm: SignatureAlgorithm, into publicKey: inout MutableRawSpan
    ) throws { Self.copy(privateKey, into: &publicKey) }

    func sharedSecret(
        of privateKey: RawSpan, with publicKey: RawSpan, by agreement: KeyAgreement, into secret: inout MutableRawSpan
    ) throws {
        for index in 0..<secret.byteCount {
            let byte = privateKey.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            let other = publicKey.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            secret.storeBytes(of: byte ^ other, toByteOffset: index, as: UInt8.self)
        }
    }

    private static func copy(_ input: RawSpan, into output: inout MutableRawSpan) {
        for index in 0..<output.byteCount {
            let byte = input.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            output.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
        }
    }

    func sign(
        _ message: RawSpan, with privateKey: RawSpan, by algorithm: SignatureAlgorithm,
        into signature: inout MutableRawSpan
    ) throws {}

    func verify(
        _ signature: RawSpan, of message: RawSpan, with publicKey: RawSpan, by algorithm: SignatureAlgorithm
    ) throws {}
}
