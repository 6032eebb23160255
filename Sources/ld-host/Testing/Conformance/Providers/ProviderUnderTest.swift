internal import CLocalData
internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

/// The provider of one check: opened for it, and closed after it.
final class ProviderUnderTest: Sendable {
    let subject: ConformanceSubject
    let crypto: LoadedCrypto
    private let folder: String

    init(_ subject: ConformanceSubject, folder: String) throws(StorageError) {
        self.subject = subject
        self.folder = folder
        crypto = try subject.openProvider(in: folder)
    }

    /// Opens another one with the same options; the caller must close it.
    func another() throws(StorageError) -> ProviderUnderTest { try ProviderUnderTest(subject, folder: folder) }

    func end() { crypto.close() }

    /// The ciphers that it declares.
    var ciphers: [AuthenticatedCipher] { AuthenticatedCipher.all.filter(crypto.offers) }

    /// The derivations that it declares.
    var derivations: [KeyDerivationFunction] { KeyDerivationFunction.allCases.filter(crypto.offers) }

    /// Whether it declares key agreement.
    var agrees: Bool { crypto.algorithms[KeyAgreement.x25519.rawValue] != nil }

    /// Whether it declares signatures.
    var signs: Bool { crypto.algorithms[SignatureAlgorithm.ed25519.rawValue] != nil }
}

/// The calls of a check that expects success; each throws if the provider fails.
extension ProviderUnderTest {
    func seal(_ text: Data, _ cipher: AuthenticatedCipher, _ use: CipherUse) throws -> Sealed {
        let (ciphertext, tag) = (GuardedOutput(text.count), GuardedOutput(cipher.tagSize))
        try crypto.observeSeal(cipher.id, text, use, ciphertext: ciphertext, tag: tag).succeeded("\(cipher): seal")
        return Sealed(ciphertext: ciphertext.data, tag: tag.data)
    }

    func open(_ sealed: Sealed, _ cipher: AuthenticatedCipher, _ use: CipherUse) throws -> Data {
        let plaintext = GuardedOutput(sealed.ciphertext.count)
        try crypto.observeOpen(cipher.id, sealed, use, plaintext: plaintext).succeeded("\(cipher): open")
        return plaintext.data
    }

    func derive(_ derivation: Derivation, _ count: Int = 32) throws -> Data {
        let key = GuardedOutput(count)
        try crypto.observeDerive(derivation, count: count, into: key).succeeded("\(derivation.function)")
        return key.data
    }

    func random(_ count: Int, over byte: UInt8 = 0) throws -> Data {
        let bytes = GuardedOutput(count, filledWith: byte)
        try crypto.observeRandom(count, into: bytes).succeeded("\(count) random bytes")
        return bytes.data
    }

    func publicKey(_ privateKey: Data) throws -> Data {
        let key = GuardedOutput(32)
        guard let observed = crypto.observePublicKey(privateKey, into: key) else {
            throw ConformanceFailure("there is no function for public keys")
        }
        try observed.succeeded("a public key")
        return key.data
    }

    func agree(_ privateKey: Data, _ publicKey: Data) throws -> Data {
        let shared = GuardedOutput(32)
        guard let observed = crypto.observeAgree(privateKey, publicKey, into: shared) else {
            throw ConformanceFailure("there is no function for shared secrets")
        }
        try observed.succeeded("a shared secret")
        return shared.data
    }

    func signingPublicKey(_ privateKey: Data) throws -> Data {
        let key = GuardedOutput(32)
        try crypto.observeSigningPublicKey(privateKey, into: key)?.succeeded("the public key of a signing key")
        return key.data
    }

    func sign(_ message: Data, _ privateKey: Data) throws -> Data {
        let signature = GuardedOutput(64)
        try crypto.observeSign(message, privateKey, into: signature)?.succeeded("sign")
        return signature.data
    }

    /// Ends the check with a failure unless the signature is accepted.
    func verify(_ signature: Data, _ message: Data, _ publicKey: Data, _ what: String) throws {
        try crypto.observeVerify(signature, message, publicKey)?.succeeded("verify of \(what)")
    }
}

extension Observation {
    /// Ends the check with a failure that names the call, unless the call succeeded.
    func succeeded(_ call: String) throws {
        guard status != LD_OK else { return }
        let why = reports.first.map { ": \($0.message) (code \($0.code.name))" } ?? ", without reporting an error"
        throw ConformanceFailure("\(call) returned \(status)\(why)")
    }

    /// Ends the check with a failure unless the call failed with a code; `nil` for any code.
    func refused(_ code: StorageError.Code?, _ call: @autoclosure () -> String) throws {
        try expect(status == LD_FAILED, "\(call()) returned \(status); expected \(LD_FAILED)")
        guard let code else { return }
        let found = reports.first.map { $0.code.name } ?? "none"
        try expect(
            reports.first?.code == code, "\(call()) was refused with the code \(found); expected \(code.name)")
    }
}

/// The inputs of a key derivation.
struct Derivation: Sendable {
    let function: KeyDerivationFunction
    var secret: Data
    var salt: Data
    var info = Data()
    var iterations: UInt64 = 0
    var memory: UInt64 = 0
    var lanes: UInt32 = 0

    /// Cheap parameters that every provider with the function accepts.
    init(_ function: KeyDerivationFunction, seed: UInt64 = 1) {
        self.function = function
        secret = Pattern.data(seed, 24)
        salt = Pattern.data(seed &+ 1, 16)
        switch function {
        case .hkdfSHA256, .hkdfSHA512: info = Pattern.data(seed &+ 2, 20)
        case .pbkdf2HMACSHA256, .pbkdf2HMACSHA512: iterations = 3
        case .argon2id:
            iterations = 1
            memory = 64 << 10
            lanes = 1
        }
    }

    /// A copy with changes.
    func with(_ change: (inout Derivation) -> Void) -> Derivation {
        var copy = self
        change(&copy)
        return copy
    }
}

/// The inputs of a cipher besides the text: key, nonce, and additional authenticated data.
struct CipherUse: Sendable {
    var key: Data
    var nonce: Data
    var data: Data

    init(key: Data, nonce: Data, data: Data) {
        self.key = key
        self.nonce = nonce
        self.data = data
    }

    /// Inputs of the right sizes, derived from a seed.
    init(_ cipher: AuthenticatedCipher, seed: UInt64, dataSize: Int = 40) {
        key = Pattern.data(seed, cipher.keySize)
        nonce = Pattern.data(seed &+ 1, cipher.nonceSize)
        data = Pattern.data(seed &+ 2, dataSize)
    }
}

/// The output of sealing.
struct Sealed: Equatable, Sendable {
    var ciphertext: Data
    var tag: Data
}

extension Data {
    /// The bytes with one bit flipped, counted from the lowest bit of the first byte.
    func flipping(bit: Int) -> Data {
        var copy = self
        copy[copy.startIndex + bit / 8] ^= 1 << (bit % 8)
        return copy
    }

    /// Bit indices of the bytes: the first, the last, and `count` between them.
    func sampledBits(_ count: Int = 12) -> [Int] {
        guard !isEmpty else { return [] }
        let last = self.count * 8 - 1
        return Array(Set([0, last] + (1...count).map { $0 * last / (count + 1) })).sorted()
    }
}
