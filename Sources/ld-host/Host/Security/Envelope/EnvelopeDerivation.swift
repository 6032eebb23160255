package import FoundationEssentials
package import LocalDataAPI

/// How an envelope's key comes from the material: as its header has it.
package enum EnvelopeDerivation: Hashable, Sendable {
    /// HKDF-SHA256 of the material. Salt and info are the key's own, besides the record's salt.
    case hkdf(salt: Data? = nil, info: Data? = nil)
    /// PBKDF2-HMAC-SHA256 of the material, then HKDF.
    case pbkdf2(iterations: UInt32, salt: Data)
    /// Argon2id of the material with one lane, then HKDF. `memory` in KiB, `salt` of 16 bytes.
    case argon2id(passes: UInt32, memory: UInt32, salt: Data)

    /// The function that takes the material.
    package var function: KeyDerivationFunction {
        switch self {
        case .hkdf: .hkdfSHA256
        case .pbkdf2: .pbkdf2HMACSHA256
        case .argon2id: .argon2id
        }
    }

    /// Whether it may take long.
    package var isSlow: Bool { function != .hkdfSHA256 }

    var iterations: UInt32 {
        switch self {
        case .hkdf: 0
        case .pbkdf2(let iterations, _): iterations
        case .argon2id(let passes, _, _): passes
        }
    }

    var salt: Data? {
        switch self {
        case .hkdf(let salt, _): salt
        case .pbkdf2(_, let salt), .argon2id(_, _, let salt): salt
        }
    }

    var info: Data? {
        guard case .hkdf(_, let info) = self else { return nil }
        return info
    }

    var memory: UInt32? {
        guard case .argon2id(_, let memory, _) = self else { return nil }
        return memory
    }

    /// What a header may ask for: a hostile one must not keep the processor or the memory busy for ever.
    static let mostIterations: UInt32 = 100_000_000
    static let mostPasses: UInt32 = 1_000
    /// In KiB: 4 GiB.
    static let mostMemory: UInt32 = 4 << 20
}
