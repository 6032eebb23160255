internal import CLocalData

/// A crypto provider, as the functions of its table `ld_crypto` find it behind the table's `self`.
final class CryptoExport {
    let provider: any CryptoProvider
    let signer: (any SigningProvider)?
    let sizes: [Int32: ld_algorithm]
    private let algorithms: [ld_algorithm]
    /// One bit per algorithm with a number below 64, as all ciphers have; checked in every call.
    private let offered: UInt64

    init(_ provider: any CryptoProvider) {
        self.provider = provider
        signer = (provider as? any SigningProvider).flatMap { $0.signatures.isEmpty ? nil : $0 }
        algorithms =
            provider.ciphers.map {
                Self.algorithm(
                    $0.id, key: $0.keySize, nonce: $0.nonceSize, tag: $0.tagSize, largest: $0.largestPlaintext)
            } + provider.derivations.map { Self.algorithm($0.rawValue, largest: $0.largestOutput) }
            + provider.agreements.map { Self.algorithm($0.rawValue, key: 32) }
            + (signer?.signatures ?? []).map { Self.algorithm($0.rawValue, key: 32) }
        sizes = Dictionary(algorithms.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        offered = algorithms.reduce(0) { $0 | ($1.id >= 0 && $1.id < 64 ? 1 << UInt64($1.id) : 0) }
    }

    private static func algorithm(
        _ id: Int32, key: Int = 0, nonce: Int = 0, tag: Int = 0, largest: UInt64 = 0
    ) -> ld_algorithm {
        ld_algorithm(
            size: UInt32(MemoryLayout<ld_algorithm>.size), id: id, key_size: UInt32(key), nonce_size: UInt32(nonce),
            tag_size: UInt32(tag), flags: 0, largest: largest)
    }

    /// Whether the provider offers the algorithm with this number, which must be below 64.
    @inline(__always)
    func offers(_ id: Int32) -> Bool { id >= 0 && id < 64 && offered & (1 << UInt64(id)) != 0 }

    /// The table of this provider; it keeps the provider until `close`.
    var table: UnsafePointer<ld_crypto> {
        let list = UnsafeMutablePointer<UnsafePointer<ld_algorithm>?>.allocate(capacity: algorithms.count)
        for (index, algorithm) in algorithms.enumerated() { (list + index).initialize(to: .immortal(algorithm)) }
        return .immortal(
            ld_crypto(
                size: UInt32(MemoryLayout<ld_crypto>.size), reserved: 0, algorithms: UnsafePointer(list),
                algorithm_count: algorithms.count, self: Unmanaged.passRetained(self).toOpaque(),
                seal: sealBytes, open: openBytes, derive: deriveBytes, random: randomBytes,
                extension: findCryptoAbility, close: closeCrypto,
                public_key: provider.agreements.isEmpty ? nil : publicKeyBytes,
                agree: provider.agreements.isEmpty ? nil : sharedSecretBytes))
    }
}

extension CryptoProvider {
    /// Derives by one of the functions.
    func derive(
        _ function: KeyDerivationFunction, _ parameters: ld_derivation, _ key: inout MutableRawSpan
    ) throws {
        let secret = try parameters.secret.bytes().bytes
        let salt = try parameters.salt.bytes().bytes
        switch function {
        case .hkdfSHA256:
            try deriveKey(from: secret, salt: salt, info: parameters.info.bytes().bytes, into: &key)
        case .pbkdf2HMACSHA256:
            try deriveKey(
                fromPassphrase: secret, salt: salt, iterations: parameters.iterations, into: &key)
        case .hkdfSHA512:
            try deriveKeyBySHA512(from: secret, salt: salt, info: parameters.info.bytes().bytes, into: &key)
        case .pbkdf2HMACSHA512:
            try deriveKeyBySHA512(
                fromPassphrase: secret, salt: salt, iterations: parameters.iterations, into: &key)
        case .argon2id:
            try deriveKey(
                fromPassphrase: secret, salt: salt, passes: parameters.iterations, memory: parameters.memory,
                lanes: parameters.lanes, into: &key)
        }
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
