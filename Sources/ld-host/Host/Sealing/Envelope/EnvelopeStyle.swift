internal import ByteCoding
internal import FoundationEssentials
package import HostGround
package import LocalDataAPI

/// How values are sealed, as a policy or a store's configuration demands.
package struct EnvelopeStyle: Hashable, Sendable {
    package let cipher: AuthenticatedCipher
    package let derivation: KeyDerivation
    /// The size of a chunk as a power of two, 10 to 24.
    package let chunkExponent: UInt8

    /// Creates a style.
    package init(
        _ cipher: AuthenticatedCipher, _ derivation: KeyDerivation = .hkdf(),
        chunkExponent: UInt8 = EnvelopeHeader.usualChunkExponent
    ) {
        self.cipher = cipher
        self.derivation = derivation
        self.chunkExponent = chunkExponent
    }

    /// The style in a header. A slow derivation gets a new salt.
    package init(_ header: EnvelopeHeader) {
        switch header.derivation {
        case .hkdf(let salt, let info): self.init(header.cipher, .hkdf(salt: salt, info: info))
        case .pbkdf2(let iterations, _): self.init(header.cipher, .pbkdf2(iterations: iterations))
        case .argon2id(let passes, let memory, _): self.init(header.cipher, .argon2id(passes: passes, memory: memory))
        }
    }

    /// The derivation with the salts that it needs.
    ///
    /// - Throws: `securityApplicationFailed` for a style that no reader accepts; what `random` throws.
    func derivation(
        _ random: (Int) throws(StorageError) -> Data
    ) throws(StorageError) -> EnvelopeDerivation {
        func given(_ salt: Data?) throws(StorageError) -> Data {
            if let salt { return salt }
            return try random(Self.saltSize)
        }
        let result: EnvelopeDerivation
        switch derivation {
        case .hkdf(let salt, let info): result = .hkdf(salt: salt, info: info)
        case .pbkdf2(let iterations, let salt):
            result = .pbkdf2(iterations: iterations, salt: try given(salt))
        case .argon2id(let passes, let memory):
            result = .argon2id(passes: passes, memory: memory, salt: try given(nil))
        }
        if let fault = result.fault ?? chunkFault {
            throw StorageError(
                .securityApplicationFailed, "a value cannot be sealed with \(fault)",
                hint: "change the key's security policy or the configuration")
        }
        return result
    }

    private var chunkFault: String? {
        let sizes = EnvelopeHeader.chunkExponents
        guard !sizes.contains(chunkExponent) else { return nil }
        return "chunks of 2^\(chunkExponent) bytes; expected 2^\(sizes.lowerBound) to 2^\(sizes.upperBound)"
    }

    /// The size of a generated salt for a slow derivation, in bytes.
    private static let saltSize = EnvelopeDerivation.argon2SaltSize
}
