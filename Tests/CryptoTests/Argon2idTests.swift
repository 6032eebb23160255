import Foundation
import LocalDataAPI
import LocalDataTesting
import Testing

@Suite("Argon2id of libsodium") struct Argon2idTests {
    /// The vectors of RFC 9106 use the function's secret and associated data, which libsodium does not take. These were
    /// computed with the reference implementation (phc-winner-argon2, argon2id, version 0x13, one lane).
    static let vectors: [(passphrase: Data, salt: Data, passes: UInt64, memory: UInt64, key: String)] = [
        (
            Data("password".utf8), Data("somesaltsomesalt".utf8), 1, 8192,
            "05b6ca8f8038b683887ad4916533858b49cb52040126c134f4c6e9d8711b8c09"
        ),
        (
            Data("password".utf8), Data("somesaltsomesalt".utf8), 2, 64 << 20,
            "fc33b78139231d34b71626bd6245c1d72efa190ad605c3d8166a72adcedfa2c2"
        ),
        (
            Data(), Data(0..<16), 3, 256 << 10,
            "ce58d2ca1f00bdd00d071ad112d87bd6d67c8e4e5ecfe07e81e3d533236d1509"
                + "1118b8e8367dc1fa184143dab9de7ed172401b1a46998ff96597db47155cf922"
        ),
        (Data(count: 40), Data(repeating: 0xff, count: 16), 4, 1 << 20, "e7ef8cc03794f4928a56b06c44dc2e1d"),
    ]

    @Test("it derives what the reference implementation derives", arguments: vectors)
    func vector(_ vector: (passphrase: Data, salt: Data, passes: UInt64, memory: UInt64, key: String)) throws {
        let expected = Data(hex: vector.key)
        let key = try BuiltProvider.sodium.open().derive(
            .argon2id, from: vector.passphrase, salt: vector.salt, iterations: vector.passes, memory: vector.memory,
            lanes: 1, count: expected.count)
        #expect(key == expected)
    }

    @Test(
        "parameters that libsodium does not accept are refused, and the error names the accepted ones",
        arguments: [
            (16, 0, 8192, 1, 32, "at least one iteration"),
            (16, 1 << 32, 8192, 1, 32, "accepts 1 to 4294967295 passes"),
            (16, 1, 8191, 1, 32, "accepts 8192 to"), (16, 1, 8193, 1, 32, "a multiple of 1024; found 8193"),
            (16, 1, 0, 1, 32, "accepts 8192 to"), (16, 1, UInt64.max, 1, 32, "accepts 8192 to"),
            (16, 1, 8192, 0, 32, "accepts exactly 1 lane; found 0"),
            (16, 1, 8192, 4, 32, "accepts exactly 1 lane; found 4"),
            (15, 1, 8192, 1, 32, "a salt of 16 bytes; found 15"), (0, 1, 8192, 1, 32, "a salt of 16 bytes; found 0"),
            (16, 1, 8192, 1, 15, "derives 16 to 4294967295 bytes"),
        ] as [(Int, UInt64, UInt64, UInt32, Int, String)])
    func refusals(
        _ salt: Int, _ passes: UInt64, _ memory: UInt64, _ lanes: UInt32, _ count: Int, _ expected: String
    ) throws {
        let error = try #require(throws: StorageError.self) {
            _ = try BuiltProvider.sodium.open().derive(
                .argon2id, from: Data("p".utf8), salt: Data(count: salt), iterations: passes, memory: memory,
                lanes: lanes, count: count)
        }
        #expect(error.code == .unsupported)
        #expect(error.message.contains(expected), "\(error.message)")
    }
}
