internal import FoundationEssentials
internal import LocalDataAPI

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
