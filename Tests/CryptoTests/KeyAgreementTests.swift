import Foundation
import LocalDataAPI
import LocalDataTesting
import Testing

@Suite("X25519 of the built providers") struct KeyAgreementTests {
    @Test(
        "repeated multiplication with the last key gives RFC 7748's results (section 5.2)",
        arguments: BuiltProvider.allCases,
        [
            (1, "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"),
            (1000, "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"),
        ])
    func iterated(_ provider: BuiltProvider, _ expected: (count: Int, key: String)) throws {
        let crypto = try provider.open()
        var key = Data([9]) + Data(count: 31)
        var point = key
        for _ in 0..<expected.count {
            let next = try crypto.sharedSecret(of: key, with: point, by: .x25519)
            point = key
            key = next
        }
        #expect(key == Data(hex: expected.key))
    }

    @Test("public keys and secrets of two parties are RFC 7748's (section 6.1)", arguments: BuiltProvider.allCases)
    func parties(_ provider: BuiltProvider) throws {
        let crypto = try provider.open()
        let alice = Data(hex: "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
        let bob = Data(hex: "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
        let ofAlice = try crypto.publicKey(of: alice, for: .x25519)
        let ofBob = try crypto.publicKey(of: bob, for: .x25519)
        #expect(ofAlice == Data(hex: "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"))
        #expect(ofBob == Data(hex: "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"))
        let secret = Data(hex: "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
        #expect(try crypto.sharedSecret(of: alice, with: ofBob, by: .x25519) == secret)
        #expect(try crypto.sharedSecret(of: bob, with: ofAlice, by: .x25519) == secret)
    }

    @Test(
        "public keys of small order yield no secret", arguments: BuiltProvider.allCases,
        [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ])
    func smallOrder(_ provider: BuiltProvider, _ publicKey: String) throws {
        let error = try #require(throws: StorageError.self) {
            _ = try provider.open().sharedSecret(
                of: Data(pattern: 31, count: 32), with: Data(hex: publicKey), by: .x25519)
        }
        #expect(error.code == .securityApplicationFailed)
    }

    @Test("keys of other sizes are refused", arguments: BuiltProvider.allCases, [0, 31, 33])
    func sizes(_ provider: BuiltProvider, _ size: Int) throws {
        let crypto = try provider.open()
        let (key, other) = (Data(pattern: 32, count: 32), Data(pattern: 33, count: size))
        #expect(throws: StorageError.unsupported) { try crypto.publicKey(of: other, for: .x25519) }
        #expect(throws: StorageError.unsupported) { try crypto.sharedSecret(of: other, with: key, by: .x25519) }
        #expect(throws: StorageError.unsupported) { try crypto.sharedSecret(of: key, with: other, by: .x25519) }
    }
}
