import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostPlugins
@testable import LocalDataHost

@Suite("tables of a crypto provider in C", .waitsForPrograms) struct CryptoTableTests {
    /// A way in which the table breaks the rules, and the host's error for it.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let variant: String
        let message: String

        init(_ variant: String, _ message: String) {
            self.variant = variant
            self.message = message
        }

        var testDescription: String { variant }
    }

    private static let refusals = [
        Refusal("CRYPTO_OPEN_NULL", "whose table has 0 bytes; expected 96 to 4096, a multiple of 8"),
        Refusal("CRYPTO_SHORT", "whose table has 16 bytes; expected 96 to 4096"),
        Refusal("CRYPTO_SMALLER", "whose table has 88 bytes; expected 96 to 4096"),
        Refusal("CRYPTO_LYING", "whose table has 4294967280 bytes; expected 96 to 4096"),
        Refusal("CRYPTO_MISALIGNED", "whose table has"),
        Refusal("CRYPTO_NO_SEAL", "without the function 'seal'"),
        Refusal("CRYPTO_NO_OPEN", "without the function 'open'"),
        Refusal("CRYPTO_NO_DERIVE", "without the function 'derive'"),
        Refusal("CRYPTO_NO_RANDOM", "without the function 'random'"),
        Refusal("CRYPTO_COUNT=0", "that lists 0 algorithms; expected 1 to 64"),
        Refusal("CRYPTO_COUNT=65", "that lists 65 algorithms; expected 1 to 64"),
        Refusal("CRYPTO_COUNT=((size_t)1<<60)", "that lists 1152921504606846976 algorithms; expected 1 to 64"),
        Refusal("CRYPTO_NO_ALGORITHMS", "without its list of algorithms"),
        Refusal("CRYPTO_NULL_ALGORITHM", "whose algorithm 5 has a struct of 0 bytes; expected 32 to 4096"),
        Refusal("CRYPTO_SHORT_ALGORITHM", "whose algorithm 1 has a struct of "),
        Refusal("CRYPTO_LYING_ALGORITHM", "whose algorithm 1 has a struct of "),
        Refusal("CRYPTO_TWICE", "that lists algorithm number 2 twice"),
        Refusal(
            "CRYPTO_KEY_SIZE=16",
            "whose ChaCha20-Poly1305 has key, nonce and tag of [16, 12, 16] bytes; "
                + "expected [32, 12, 16]"),
        Refusal("CRYPTO_NONCE_SIZE=8", "of [32, 8, 16] bytes; expected [32, 12, 16]"),
        Refusal("CRYPTO_TAG_SIZE=4294967295", "of [32, 12, 4294967295] bytes; expected [32, 12, 16]"),
        Refusal("CRYPTO_NO_PUBLIC_KEY", "that lists a key agreement but lacks its functions"),
        Refusal("CRYPTO_NO_AGREE", "that lists a key agreement but lacks its functions"),
    ]

    @Test("a table that is not usable is refused, by file, component and fault", arguments: refusals)
    func refuses(_ refusal: Refusal) throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let file = try Self.build(fixture, refusal.variant)
        let error = try #require(throws: StorageError.self) { try Self.open(file) }
        #expect(error.code == .pluginRefused)
        #expect(error.message.hasPrefix("plugin '\(file)': component 'fixture' opened a crypto provider "), "\(error)")
        #expect(error.message.contains(refusal.message), "\(error)")
        #expect(error.hint == "build the plugin against the header of ABI major 1")
    }

    @Test(
        "a table without optional functions, and a larger one, are accepted",
        arguments: [["CRYPTO_NO_AGREE", "CRYPTO_COUNT=3"], ["CRYPTO_NEWER"], []])
    func takes(_ variant: [String]) throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let crypto = try Self.open(try Self.build(fixture, variant))
        #expect(crypto.offers(.chaCha20Poly1305) && crypto.offers(.hkdfSHA256))
        #expect(!crypto.offers(.aes256GCM) && !crypto.offers(.argon2id))
        #expect(crypto.algorithms.keys.contains(77), "an algorithm of a later host does no harm")
        #expect(crypto.signatures == nil)
        var bytes = [UInt8](repeating: 0, count: 4)
        try bytes.withUnsafeMutableBytes { try crypto.random(into: $0) }
        #expect(bytes == [1, 2, 3, 4])
        crypto.close()
    }

    @Test(
        "signatures are not offered by a table that is short or has no functions",
        arguments: ["CRYPTO_NULL_ABILITY=8", "CRYPTO_NULL_ABILITY=sizeof(ld_crypto_signatures)"])
    func brokenSignatures(_ variant: String) throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let crypto = try Self.open(try Self.build(fixture, variant))
        #expect(crypto.signatures == nil && !crypto.offers(.ed25519))
    }

    @Test("a provider that does not open reports its own error, and a store is not a provider")
    func doesNotOpen() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let failing = try Self.build(fixture, ["CRYPTO_OPEN_FAILS"], as: "libFailing.so")
        let error = try #require(throws: StorageError.self) { try Self.open(failing) }
        #expect(error.code == .unsupported && error.message == "the fixture computes nothing")
        let store = try Self.build(fixture, ["CRYPTO_IS_A_STORE"], as: "libStore.so")
        let missing = try #require(throws: StorageError.self) { try Self.open(store) }
        #expect(missing.code == .componentNotFound && missing.message.contains("no crypto component 'fixture'"))
    }

    @Test("only the status OK counts as a sealed text", arguments: [1, 2, 3, 99, -1, -7])
    func statuses(_ status: Int) throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let crypto = try Self.open(try Self.build(fixture, "CRYPTO_STATUS=\(status)"))
        let input = [UInt8](repeating: 0, count: 32)
        var (sealed, tag) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 16))
        let error = try #require(throws: StorageError.self) {
            try input.withUnsafeBytes { input in
                try sealed.withUnsafeMutableBytes { sealed in
                    try tag.withUnsafeMutableBytes { tag in
                        try crypto.seal(
                            input, with: .chaCha20Poly1305, key: input, nonce: .init(rebasing: input[..<12]),
                            authenticating: .init(start: nil, count: 0), ciphertext: sealed, tag: tag)
                    }
                }
            }
        }
        #expect(error.code == .unknown)
    }

    private static func build(_ fixture: FixtureBuilder, _ variant: String) throws -> String {
        try build(fixture, [variant])
    }

    private static func build(
        _ fixture: FixtureBuilder, _ variant: [String], as name: String = "libCryptoFixture.so"
    ) throws -> String {
        try fixture.build(variant: variant, as: name, source: "cryptofixture.c")
    }

    private static func open(_ file: String) throws -> LoadedCrypto {
        try PluginImage.load(file).openCrypto(
            "fixture", options: ResolvedOptions(), host: HostTable.shared(for: SilentLog()))
    }
}
