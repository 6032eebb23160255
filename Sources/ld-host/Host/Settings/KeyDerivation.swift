package import FoundationEssentials
package import LocalDataAPI

/// How the key of a sealed record is derived from the key material; missing salts are random for each record.
package enum KeyDerivation: Hashable, Sendable {
    case hkdf(salt: Data? = nil, info: Data? = nil)
    case pbkdf2(iterations: UInt32, salt: Data? = nil)
    case argon2id(passes: UInt32, memory: UInt32)

    /// The functions that envelopes support.
    package static let functions: [KeyDerivationFunction] = [.hkdfSHA256, .pbkdf2HMACSHA256, .argon2id]

    /// The function that is applied to the material.
    var function: KeyDerivationFunction {
        switch self {
        case .hkdf: .hkdfSHA256
        case .pbkdf2: .pbkdf2HMACSHA256
        case .argon2id: .argon2id
        }
    }
}
