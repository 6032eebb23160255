internal import FoundationEssentials
internal import LocalDataAPI

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
