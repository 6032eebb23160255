internal import CLocalData

final class CryptoExport<Provider: CryptoProvider>: AnyCryptoExport {
    private let provider: Provider
    private let algorithms: [ld_algorithm]

    init(_ provider: Provider) {
        self.provider = provider
        let signatures = (provider as? any SigningProvider)?.signatures ?? []
        algorithms =
            provider.ciphers.map { cipher in
                ld_algorithm(
                    size: UInt32(MemoryLayout<ld_algorithm>.size), id: cipher.id, key_size: UInt32(cipher.keySize),
                    nonce_size: UInt32(cipher.nonceSize), tag_size: UInt32(cipher.tagSize), flags: 0,
                    largest: cipher.largestPlaintext)
            }
            + provider.derivations.map {
                ld_algorithm(
                    size: UInt32(MemoryLayout<ld_algorithm>.size), id: $0.rawValue, key_size: 0, nonce_size: 0,
                    tag_size: 0, flags: 0, largest: $0.largestOutput)
            }
            + provider.agreements.map {
                ld_algorithm(
                    size: UInt32(MemoryLayout<ld_algorithm>.size), id: $0.rawValue, key_size: 32, nonce_size: 0,
                    tag_size: 0, flags: 0, largest: 0)
            }
            + signatures.map {
                ld_algorithm(
                    size: UInt32(MemoryLayout<ld_algorithm>.size), id: $0.rawValue, key_size: 32, nonce_size: 0,
                    tag_size: 0, flags: 0, largest: 0)
            }
        super.init(algorithms)
        if !signatures.isEmpty { self.signatures = .immortal(signatureTable) }
    }

    /// The table of this provider; it keeps the provider until `close`.
    var table: UnsafePointer<ld_crypto> {
        let list = UnsafeMutablePointer<UnsafePointer<ld_algorithm>?>.allocate(capacity: algorithms.count)
        for (index, algorithm) in algorithms.enumerated() { (list + index).initialize(to: .immortal(algorithm)) }
        return .immortal(
            ld_crypto(
                size: UInt32(MemoryLayout<ld_crypto>.size), reserved: 0, algorithms: UnsafePointer(list),
                algorithm_count: algorithms.count, self: Unmanaged<AnyCryptoExport>.passRetained(self).toOpaque(),
                seal: sealBytes, open: openBytes, derive: deriveBytes, random: randomBytes,
                extension: findCryptoAbility, close: closeCrypto,
                public_key: provider.agreements.isEmpty ? nil : publicKeyBytes,
                agree: provider.agreements.isEmpty ? nil : sharedSecretBytes))
    }

    override func seal(
        _ plaintext: RawSpan, _ cipher: AuthenticatedCipher, _ key: RawSpan, _ nonce: RawSpan, _ data: RawSpan,
        _ ciphertext: inout MutableRawSpan, _ tag: inout MutableRawSpan
    ) throws {
        try provider.seal(
            plaintext, with: cipher, key: key, nonce: nonce, authenticating: data, ciphertext: &ciphertext, tag: &tag)
    }

    override func open(
        _ ciphertext: RawSpan, _ tag: RawSpan, _ cipher: AuthenticatedCipher, _ key: RawSpan, _ nonce: RawSpan,
        _ data: RawSpan, _ plaintext: inout MutableRawSpan
    ) throws {
        try provider.open(
            ciphertext, tag: tag, with: cipher, key: key, nonce: nonce, authenticating: data, plaintext: &plaintext)
    }

    override func derive(
        _ function: KeyDerivationFunction, _ parameters: ld_derivation, _ key: inout MutableRawSpan
    ) throws {
        let secret = try parameters.secret.bytes().bytes
        let salt = try parameters.salt.bytes().bytes
        switch function {
        case .hkdfSHA256:
            try provider.deriveKey(from: secret, salt: salt, info: parameters.info.bytes().bytes, into: &key)
        case .pbkdf2HMACSHA256:
            try provider.deriveKey(
                fromPassphrase: secret, salt: salt, iterations: parameters.iterations, into: &key)
        case .hkdfSHA512:
            try provider.deriveKeyBySHA512(from: secret, salt: salt, info: parameters.info.bytes().bytes, into: &key)
        case .pbkdf2HMACSHA512:
            try provider.deriveKeyBySHA512(
                fromPassphrase: secret, salt: salt, iterations: parameters.iterations, into: &key)
        case .argon2id:
            try provider.deriveKey(
                fromPassphrase: secret, salt: salt, passes: parameters.iterations, memory: parameters.memory,
                lanes: parameters.lanes, into: &key)
        }
    }

    override func random(_ bytes: inout MutableRawSpan) throws { try provider.random(into: &bytes) }

    override func publicKey(
        _ privateKey: RawSpan, _ agreement: KeyAgreement, _ publicKey: inout MutableRawSpan
    ) throws { try provider.publicKey(of: privateKey, for: agreement, into: &publicKey) }

    override func sharedSecret(
        _ privateKey: RawSpan, _ publicKey: RawSpan, _ agreement: KeyAgreement, _ secret: inout MutableRawSpan
    ) throws { try provider.sharedSecret(of: privateKey, with: publicKey, by: agreement, into: &secret) }

    override func signingPublicKey(
        _ privateKey: RawSpan, _ algorithm: SignatureAlgorithm, _ publicKey: inout MutableRawSpan
    ) throws { try signer().publicKey(ofSigningKey: privateKey, for: algorithm, into: &publicKey) }

    override func sign(
        _ message: RawSpan, _ privateKey: RawSpan, _ algorithm: SignatureAlgorithm, _ signature: inout MutableRawSpan
    ) throws { try signer().sign(message, with: privateKey, by: algorithm, into: &signature) }

    override func verify(
        _ signature: RawSpan, _ message: RawSpan, _ publicKey: RawSpan, _ algorithm: SignatureAlgorithm
    ) throws { try signer().verify(signature, of: message, with: publicKey, by: algorithm) }

    private func signer() throws -> any SigningProvider {
        guard let signer = provider as? any SigningProvider else { throw StorageError(.unsupported) }
        return signer
    }
}

extension KeyDerivationFunction {
    fileprivate var largestOutput: UInt64 {
        switch self {
        case .hkdfSHA256: 8160
        case .pbkdf2HMACSHA256: 32 * ((1 << 32) - 1)
        case .argon2id: (1 << 32) - 1
        case .hkdfSHA512: 16_320
        case .pbkdf2HMACSHA512: 64 * ((1 << 32) - 1)
        }
    }
}
