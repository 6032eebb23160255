import Foundation
import LocalDataAPI
import LocalDataHost
import LocalDataTesting
import Testing

@Suite("Derivations of the built providers") struct DerivationTests {
    @Test(
        "both derive the same by HKDF, whatever is empty", arguments: [0, 1, 31, 32, 63, 64, 65, 200, 5000],
        [1, 33, 8160])
    func hkdf(_ size: Int, _ count: Int) throws {
        for function in [KeyDerivationFunction.hkdfSHA256, .hkdfSHA512] { try hkdf(function, size, count) }
    }

    private func hkdf(_ function: KeyDerivationFunction, _ size: Int, _ count: Int) throws {
        let (first, second) = (try BuiltProvider.openssl.open(), try BuiltProvider.sodium.open())
        for (secret, salt, info) in [(size, 32, 20), (32, size, 0), (0, 0, size), (size, size, size)] {
            let (secret, salt) = (Data(pattern: 21, count: secret), Data(pattern: 22, count: salt))
            let info = Data(pattern: 23, count: info)
            let key = try first.derive(function, from: secret, salt: salt, info: info, count: count)
            #expect(try second.derive(function, from: secret, salt: salt, info: info, count: count) == key)
            #expect(count < 32 || key != Data(count: count))
        }
    }

    @Test("outputs that the function does not have are refused", arguments: BuiltProvider.allCases, [0, 8161])
    func outputs(_ provider: BuiltProvider, _ count: Int) throws {
        #expect(throws: StorageError.unsupported) {
            try provider.open().derive(.hkdfSHA256, from: Data(), salt: Data(), count: count)
        }
    }

    @Test(
        "both derive the same by PBKDF2, whatever is empty or longer than a block",
        arguments: [0, 1, 63, 64, 65, 128, 200],
        [KeyDerivationFunction.pbkdf2HMACSHA256, .pbkdf2HMACSHA512])
    func pbkdf2(_ size: Int, _ function: KeyDerivationFunction) throws {
        let (first, second) = (try BuiltProvider.openssl.open(), try BuiltProvider.sodium.open())
        for (passphrase, salt, iterations, count) in [(size, 16, 2, 32), (10, size, 1, 200), (size, size, 1000, 64)] {
            let (passphrase, salt) = (Data(pattern: 24, count: passphrase), Data(pattern: 25, count: salt))
            let iterations = UInt64(iterations)
            let key = try first.derive(function, from: passphrase, salt: salt, iterations: iterations, count: count)
            let other = try second.derive(function, from: passphrase, salt: salt, iterations: iterations, count: count)
            #expect(key == other)
        }
    }

    @Test(
        "PBKDF2 takes empty passphrases and salts",
        arguments: [
            // Computed with Python's hashlib.
            ("", "", "f7ce0b653d2d72a4108cf5abe912ffdd777616dbbb27a70e8204f3ae2d0f6fad"),
            ("", "salt", "f135c27993baf98773c5cdb40a5706ce6a345cde61b000a67858650cd6a324d7"),
            ("password", "", "c1232f10f62715fda06ae7c0a2037ca19b33cf103b727ba56d870c11f290a2ab"),
        ])
    func emptyPassphrase(_ passphrase: String, _ salt: String, _ expected: String) throws {
        for provider in BuiltProvider.allCases {
            let key = try provider.open().derive(
                .pbkdf2HMACSHA256, from: Data(passphrase.utf8), salt: Data(salt.utf8), iterations: 1, count: 32)
            #expect(key == Data(hex: expected))
        }
    }

    @Test("PBKDF2 without an iteration is refused", arguments: BuiltProvider.allCases)
    func noIteration(_ provider: BuiltProvider) throws {
        for function in [KeyDerivationFunction.pbkdf2HMACSHA256, .pbkdf2HMACSHA512] {
            #expect(throws: StorageError.unsupported) {
                try provider.open().derive(function, from: Data(), salt: Data(), count: 32)
            }
        }
    }

    @Test("a derivation that is not declared is refused")
    func undeclared() throws {
        #expect(throws: StorageError.unsupported) {
            try BuiltProvider.openssl.open().derive(
                .argon2id, from: Data(), salt: Data(count: 16), iterations: 1, memory: 8192, lanes: 1, count: 32)
        }
    }

    @Test("random bytes differ from call to call, and fill buffers of any size", arguments: BuiltProvider.allCases)
    func random(_ provider: BuiltProvider) throws {
        let crypto = try provider.open()
        #expect(try crypto.random(0).isEmpty)
        let (first, second) = (try crypto.random(1 << 20), try crypto.random(1 << 20))
        #expect(first != second)
        // Among 2^20 bytes each value occurs 4096 times, with a standard deviation of 64; a deviation of 10 times that
        // is practically impossible.
        var counts = [Int](repeating: 0, count: 256)
        for byte in first { counts[Int(byte)] += 1 }
        #expect(counts.allSatisfy { (3456...4736).contains($0) })
    }
}
