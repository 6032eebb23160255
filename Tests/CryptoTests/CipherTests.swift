import Foundation
import LocalDataAPI
import LocalDataHost
import LocalDataTesting
import TestSupport
import Testing

@Suite("Ciphers of the built providers") struct CipherTests {
    private static let lengths = [0, 1, 15, 16, 17, 64, 65_535, 65_536, 1 << 20]

    private let data = Data("header".utf8)

    private func key(_ cipher: AuthenticatedCipher) -> (key: Data, nonce: Data) {
        (Data(pattern: 1, count: cipher.keySize), Data(pattern: 2, count: cipher.nonceSize))
    }

    @Test("each declares the expected ciphers")
    func declared() throws {
        #expect(try Set(BuiltProvider.openssl.open().ciphers) == [.aes256GCM, .chaCha20Poly1305])
        let sodium = try Set(BuiltProvider.sodium.open().ciphers)
        #expect(sodium.subtracting([.aes256GCM]) == [.chaCha20Poly1305, .xChaCha20Poly1305])
    }

    @Test("each provider opens what the other has sealed, to the same bytes", arguments: lengths)
    func crossing(_ size: Int) throws {
        let (first, second) = (try BuiltProvider.openssl.open(), try BuiltProvider.sodium.open())
        let common = first.ciphers.filter(second.offers)
        try #require(common.contains(.chaCha20Poly1305))
        let plaintext = Data(pattern: 3, count: size)
        for cipher in common {
            let (key, nonce) = key(cipher)
            for (one, other) in [(first, second), (second, first)] {
                let sealed = try one.seal(plaintext, with: cipher, key: key, nonce: nonce, authenticating: data)
                let opened = try other.open(
                    sealed.ciphertext, tag: sealed.tag, with: cipher, key: key, nonce: nonce, authenticating: data)
                #expect(opened == plaintext)
                #expect(size < 15 || sealed.ciphertext != plaintext)
            }
        }
    }

    @Test("each opens what it sealed, also with no data to authenticate", arguments: BuiltProvider.allCases, lengths)
    func alone(_ provider: BuiltProvider, _ size: Int) throws {
        let crypto = try provider.open()
        for cipher in crypto.ciphers {
            let (key, nonce) = key(cipher)
            let plaintext = Data(pattern: 4, count: size)
            let sealed = try crypto.seal(plaintext, with: cipher, key: key, nonce: nonce, authenticating: Data())
            let opened = try crypto.open(
                sealed.ciphertext, tag: sealed.tag, with: cipher, key: key, nonce: nonce, authenticating: Data())
            #expect(opened == plaintext)
        }
    }

    @Test(
        "whatever was changed, nothing opens and no byte of plaintext comes out", arguments: BuiltProvider.allCases,
        [0, 1, 100, 70_000])
    func changed(_ provider: BuiltProvider, _ size: Int) throws {
        let crypto = try provider.open()
        for cipher in crypto.ciphers {
            let (key, nonce) = key(cipher)
            let plaintext = Data(pattern: 5, count: size)
            let (ciphertext, tag) = try crypto.seal(
                plaintext, with: cipher, key: key, nonce: nonce, authenticating: data)
            func expectRefusal(
                _ ciphertext: Data, _ tag: Data, _ key: Data, _ nonce: Data, _ data: Data, _ what: String
            ) throws {
                var opened = Data()
                let error = try #require(throws: StorageError.self, "\(cipher), \(what)") {
                    try crypto.open(
                        ciphertext, tag: tag, with: cipher, key: key, nonce: nonce, authenticating: data, into: &opened)
                }
                #expect(error.code == .cannotOpen)
                #expect(opened == Data(count: ciphertext.count), "\(cipher), \(what)")
            }
            for bit in 0..<(8 * tag.count) {
                try expectRefusal(ciphertext, tag.flipping(bit: bit), key, nonce, data, "bit \(bit) of the tag")
            }
            for bit in stride(from: 0, to: 8 * size, by: max(1, size / 2)) {
                try expectRefusal(ciphertext.flipping(bit: bit), tag, key, nonce, data, "bit \(bit)")
            }
            for bit in 0..<(8 * nonce.count) {
                try expectRefusal(ciphertext, tag, key, nonce.flipping(bit: bit), data, "bit \(bit) of the nonce")
            }
            for bit in stride(from: 0, to: 8 * key.count, by: 5) {
                try expectRefusal(ciphertext, tag, key.flipping(bit: bit), nonce, data, "bit \(bit) of the key")
            }
            try expectRefusal(ciphertext, tag, key, nonce, Data(), "no data")
            try expectRefusal(ciphertext, tag, key, nonce, data + [0], "more data")
            if size > 0 { try expectRefusal(ciphertext.dropLast(), tag, key, nonce, data, "cut") }
            try expectRefusal(ciphertext + [0], tag, key, nonce, data, "longer")
        }
    }

    @Test("keys, nonces and tags of other sizes are refused and named", arguments: BuiltProvider.allCases)
    func sizes(_ provider: BuiltProvider) throws {
        let crypto = try provider.open()
        for cipher in crypto.ciphers {
            let (key, nonce) = key(cipher)
            let tag = Data(count: cipher.tagSize)
            for (key, nonce) in [
                (Data(), nonce), (key.dropLast(), nonce), (key + [0], nonce), (key, Data()), (key, nonce.dropLast()),
                (key, nonce + [0]),
            ] {
                let error = try #require(throws: StorageError.self) {
                    _ = try crypto.seal(data, with: cipher, key: key, nonce: nonce, authenticating: data)
                }
                #expect(error.code == .unsupported)
                #expect(error.message.contains("found \(key.count) and \(nonce.count)"), "\(error)")
                #expect(throws: StorageError.unsupported) {
                    _ = try crypto.open(data, tag: tag, with: cipher, key: key, nonce: nonce, authenticating: data)
                }
            }
            for tag in [Data(), tag.dropLast(), tag + [0]] {
                #expect(throws: StorageError.unsupported) {
                    _ = try crypto.open(data, tag: tag, with: cipher, key: key, nonce: nonce, authenticating: data)
                }
            }
        }
    }

    @Test("a cipher that is not declared is refused")
    func undeclared() throws {
        let cipher = AuthenticatedCipher.xChaCha20Poly1305
        let (key, nonce) = key(cipher)
        #expect(throws: StorageError.unsupported) {
            _ = try BuiltProvider.openssl.open()
                .seal(data, with: cipher, key: key, nonce: nonce, authenticating: data)
        }
    }

    @Test("many threads compute at once, each with a key of its own", arguments: BuiltProvider.allCases)
    func threads(_ provider: BuiltProvider) throws {
        let crypto = try provider.open()
        let plaintext = Data(pattern: 6, count: 1000)
        let failures = Recorder<String>()
        @Sendable func compute(_ thread: Int) throws {
            for round in 0..<200 {
                for cipher in crypto.ciphers {
                    let key = Data(pattern: UInt64(1000 * thread + round), count: cipher.keySize)
                    let nonce = Data(pattern: UInt64(round), count: cipher.nonceSize)
                    let sealed = try crypto.seal(plaintext, with: cipher, key: key, nonce: nonce, authenticating: data)
                    let opened = try crypto.open(
                        sealed.ciphertext, tag: sealed.tag, with: cipher, key: key, nonce: nonce, authenticating: data)
                    if opened != plaintext { failures.add("\(cipher) in round \(round)") }
                }
                let first = try crypto.derive(.hkdfSHA256, from: plaintext, salt: data, info: data, count: 64)
                if try crypto.derive(.hkdfSHA256, from: plaintext, salt: data, info: data, count: 64) != first {
                    failures.add("the derivation in round \(round)")
                }
            }
        }
        onThreads(8) { thread in
            do { try compute(thread) } catch { failures.add("\(error)") }
        }
        #expect(failures.all == [])
    }
}
