import Foundation
import LocalDataAPI
import LocalDataTesting
import TestSupport
import Testing

@Suite("Ed25519 of the built providers") struct SignatureTests {
    @Test("both providers make the same keys and signatures, and accept each other's")
    func agreement() throws {
        let (openssl, sodium) = (try BuiltProvider.openssl.open(), try BuiltProvider.sodium.open())
        for size in [0, 1, 31, 64, 1000, 100_000] {
            let (key, message) = (Data(pattern: 50, count: 32), Data(pattern: 51, count: size))
            let publicKey = try openssl.publicKey(ofSigningKey: key, for: .ed25519)
            #expect(try sodium.publicKey(ofSigningKey: key, for: .ed25519) == publicKey)
            let signature = try openssl.sign(message, with: key, by: .ed25519)
            #expect(try sodium.sign(message, with: key, by: .ed25519) == signature)
            for crypto in [openssl, sodium] {
                try crypto.verify(signature, of: message, with: publicKey, by: .ed25519)
            }
        }
    }

    /// Tries 300 keys and signatures with points of small order, second encodings and random changes; more with
    /// `LOCALDATA_TORTURE=1`.
    @Test("both providers agree about every public key and signature, however strange")
    func strangeInputs() throws {
        let (openssl, sodium) = (try BuiltProvider.openssl.open(), try BuiltProvider.sodium.open())
        let points =
            [
                "0000000000000000000000000000000000000000000000000000000000000000",
                "0100000000000000000000000000000000000000000000000000000000000000",
                "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
                "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
                "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                "b154bd62188ae283dd187fefe8c31f5e276edf083b4cff11c9d5cff856c74440",
            ].flatMap { [Data(hex: $0), Data(hex: $0).flipping(bit: 255)] }
        var generator = SeededGenerator(seed: TestRun.seed)
        var accepted = 0
        for round in 0..<(TestRun.isTorture ? 30_000 : 300) {
            let key = Data(pattern: UInt64(round), count: 32)
            let message = Data(pattern: UInt64(round), count: round % 90)
            var publicKey = try openssl.publicKey(ofSigningKey: key, for: .ed25519)
            var signature = try openssl.sign(message, with: key, by: .ed25519)
            let point = points.randomElement(using: &generator) ?? Data()
            switch round % 6 {
            case 0: publicKey = point
            case 1: signature.replaceSubrange(0..<32, with: point)
            case 2: signature = point + Data(count: 32)
            case 3: (publicKey, signature) = (point, point + Data(count: 32))
            case 4: signature = signature.flipping(bit: Int.random(in: 0..<512, using: &generator))
            default: break
            }
            let answers = [openssl, sodium].map { crypto in
                do throws(StorageError) {
                    try crypto.verify(signature, of: message, with: publicKey, by: .ed25519)
                    return StorageError.Code(rawValue: 0)
                } catch { return error.code }
            }
            #expect(answers[0] == answers[1], "round \(round)")
            #expect(answers[0] == .cannotOpen || round % 6 == 5, "round \(round)")
            if answers[0].rawValue == 0 { accepted += 1 }
        }
        #expect(accepted > 0)
    }

    @Test("keys and signatures of other sizes are refused", arguments: BuiltProvider.allCases, [0, 31, 33])
    func sizes(_ provider: BuiltProvider, _ size: Int) throws {
        let crypto = try provider.open()
        let (key, other) = (Data(pattern: 52, count: 32), Data(pattern: 53, count: size))
        let signature = Data(count: 64)
        #expect(throws: StorageError.unsupported) { try crypto.publicKey(ofSigningKey: other, for: .ed25519) }
        #expect(throws: StorageError.unsupported) { try crypto.sign(key, with: other, by: .ed25519) }
        #expect(throws: StorageError.unsupported) { try crypto.verify(signature, of: key, with: other, by: .ed25519) }
        #expect(throws: StorageError.unsupported) { try crypto.verify(other, of: key, with: key, by: .ed25519) }
    }
}
