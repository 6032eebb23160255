internal import FoundationEssentials
internal import LocalDataAPI

/// What a key is derived from, and how.
struct Derivation: Sendable {
    let function: KeyDerivationFunction
    var secret: Data
    var salt: Data
    var info = Data()
    var iterations: UInt64 = 0
    var memory: UInt64 = 0
    var lanes: UInt32 = 0

    /// Cheap parameters that every provider with the function takes.
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

    /// As another one with something changed.
    func with(_ change: (inout Derivation) -> Void) -> Derivation {
        var copy = self
        change(&copy)
        return copy
    }
}
