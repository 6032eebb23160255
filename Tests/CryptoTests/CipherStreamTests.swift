import Foundation
import LocalDataAPI
import LocalDataHost
import LocalDataTesting
import Testing

@Suite("Ciphers in pieces") struct CipherStreamTests {
    private let data = Data("data that is longer than one block of sixty-four bytes, so that it takes two".utf8)

    private func material(_ cipher: AuthenticatedCipher) -> (key: Data, nonce: Data) {
        (Data(pattern: 11, count: cipher.keySize), Data(pattern: 12, count: cipher.nonceSize))
    }

    private func cut(_ whole: Data, at sizes: [Int]) -> [Data] {
        var (pieces, rest, turn) = ([Data](), whole, 0)
        while !rest.isEmpty {
            let size = min(sizes[turn % sizes.count], rest.count)
            pieces.append(Data(rest.prefix(size)))
            rest = rest.dropFirst(size)
            turn += 1
        }
        return pieces
    }

    @Test(
        "pieces of any size give the result of one call, in both directions", arguments: BuiltProvider.allCases,
        [[1], [16], [64], [63, 1, 65], [0, 7, 128, 1000], [4096, 1], [65_536]])
    func pieces(_ provider: BuiltProvider, _ sizes: [Int]) throws {
        let crypto = try provider.open()
        let ciphers = crypto.ciphers.filter(crypto.offersInPieces)
        try #require(ciphers.count == 2)
        for cipher in ciphers {
            let (key, nonce) = material(cipher)
            for count in [0, 1, 64, 200, 9000] {
                for data in [Data(), data, data.prefix(16)] {
                    let plaintext = Data(pattern: 13, count: count)
                    let whole = try crypto.seal(plaintext, with: cipher, key: key, nonce: nonce, authenticating: data)
                    let sealed = try crypto.seal(
                        pieces: cut(plaintext, at: sizes), with: cipher, key: key, nonce: nonce, authenticating: data)
                    #expect(sealed == whole)
                    let opened = try crypto.open(
                        pieces: cut(whole.ciphertext, at: sizes.reversed()), tag: whole.tag, with: cipher, key: key,
                        nonce: nonce, authenticating: data)
                    #expect(opened == plaintext)
                }
            }
        }
    }

    @Test("a stream with a wrong tag, other data or a missing end does not open", arguments: BuiltProvider.allCases)
    func wrongTag(_ provider: BuiltProvider) throws {
        let crypto = try provider.open()
        for cipher in crypto.ciphers where crypto.offersInPieces(cipher) {
            let (key, nonce) = material(cipher)
            let (ciphertext, tag) = try crypto.seal(
                Data(pattern: 14, count: 100), with: cipher, key: key, nonce: nonce, authenticating: data)
            for (ciphertext, tag, data) in [
                (ciphertext, tag.flipping(bit: 0), data), (ciphertext, tag.flipping(bit: 127), data),
                (ciphertext.dropLast(), tag, data), (ciphertext.flipping(bit: 5), tag, data), (ciphertext, tag, Data()),
            ] {
                #expect(throws: StorageError.cannotOpen) {
                    try crypto.open(
                        pieces: [ciphertext], tag: tag, with: cipher, key: key, nonce: nonce, authenticating: data)
                }
            }
        }
    }

    @Test("streams that are begun and given up are freed, and those of other sizes are refused")
    func givenUp() throws {
        let crypto = try BuiltProvider.sodium.open()
        let cipher = AuthenticatedCipher.chaCha20Poly1305
        let (key, nonce) = material(cipher)
        func begin(_ key: Data, _ nonce: Data) throws -> LoadedCipherStream {
            try key.withUnsafeBytes { key in
                try nonce.withUnsafeBytes { nonce in
                    try crypto.begin(
                        .seal, with: cipher, key: key, nonce: nonce,
                        authenticating: UnsafeRawBufferPointer(start: nil, count: 0))
                }
            }
        }
        for _ in 0..<1000 { _ = try begin(key, nonce) }
        #expect(throws: StorageError.unsupported) { try begin(key.dropLast(), nonce) }
        #expect(throws: StorageError.unsupported) { try begin(key, nonce + [0]) }
    }

    @Test(
        "a stream that was begun in the other direction yields no tag and no approval",
        arguments: BuiltProvider.allCases)
    func otherDirection(_ provider: BuiltProvider) throws {
        let crypto = try provider.open()
        let cipher = AuthenticatedCipher.chaCha20Poly1305
        let (key, nonce) = material(cipher)
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        var tag = Data(count: 16)
        try key.withUnsafeBytes { key in
            try nonce.withUnsafeBytes { nonce in
                let opening = try crypto.begin(.open, with: cipher, key: key, nonce: nonce, authenticating: none)
                #expect(throws: StorageError.unsupported) {
                    try tag.withUnsafeMutableBytes { try opening.seal(tag: $0) }
                }
                let sealing = try crypto.begin(.seal, with: cipher, key: key, nonce: nonce, authenticating: none)
                #expect(throws: StorageError.unsupported) { try tag.withUnsafeBytes { try sealing.open(tag: $0) } }
                #expect(throws: StorageError.unsupported) { try tag.withUnsafeBytes { try sealing.open(tag: $0) } }
            }
        }
        #expect(tag == Data(count: 16))
    }
}
