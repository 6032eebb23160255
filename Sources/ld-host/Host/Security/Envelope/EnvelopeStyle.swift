package import FoundationEssentials
package import LocalDataAPI

/// How values are sealed: what a policy or a store's configuration chooses.
package struct EnvelopeStyle: Hashable, Sendable {
    /// How the record's key is derived; salts that are not given are random for each record.
    package enum Derivation: Hashable, Sendable {
        case hkdf(salt: Data? = nil, info: Data? = nil)
        case pbkdf2(iterations: UInt32, salt: Data? = nil)
        case argon2id(passes: UInt32, memory: UInt32)
    }

    package let cipher: AuthenticatedCipher
    package let derivation: Derivation

    /// Chooses.
    package init(_ cipher: AuthenticatedCipher, _ derivation: Derivation = .hkdf()) {
        self.cipher = cipher
        self.derivation = derivation
    }

    /// The derivation with every salt that it needs.
    func derivation(
        _ random: (Int) throws(StorageError) -> Data
    ) throws(StorageError) -> EnvelopeDerivation {
        switch derivation {
        case .hkdf(let salt, let info): return .hkdf(salt: salt, info: info)
        case .pbkdf2(let iterations, let salt):
            if let salt { return .pbkdf2(iterations: iterations, salt: salt) }
            return .pbkdf2(iterations: iterations, salt: try random(16))
        case .argon2id(let passes, let memory):
            return .argon2id(passes: passes, memory: memory, salt: try random(16))
        }
    }
}
