internal import FoundationEssentials
internal import LocalDataAPI

/// What a cipher is used with besides the text: key, nonce, and the data that is only authenticated.
struct CipherUse: Sendable {
    var key: Data
    var nonce: Data
    var data: Data

    init(key: Data, nonce: Data, data: Data) {
        self.key = key
        self.nonce = nonce
        self.data = data
    }

    /// Ones of the right sizes that all follow from a seed.
    init(_ cipher: AuthenticatedCipher, seed: UInt64, dataSize: Int = 40) {
        key = Pattern.data(seed, cipher.keySize)
        nonce = Pattern.data(seed &+ 1, cipher.nonceSize)
        data = Pattern.data(seed &+ 2, dataSize)
    }
}

/// What sealing makes.
struct Sealed: Equatable, Sendable {
    var ciphertext: Data
    var tag: Data
}

extension Data {
    /// The bytes with one bit changed, counted from the first byte's lowest.
    func flipping(bit: Int) -> Data {
        var copy = self
        copy[copy.startIndex + bit / 8] ^= 1 << (bit % 8)
        return copy
    }

    /// Some bits of the bytes: the first, the last, and `count` between them.
    func sampledBits(_ count: Int = 12) -> [Int] {
        guard !isEmpty else { return [] }
        let last = self.count * 8 - 1
        return Array(Set([0, last] + (1...count).map { $0 * last / (count + 1) })).sorted()
    }
}
