import FoundationEssentials
import Glibc
import LocalDataAPI
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite("crypto providers that open what another one sealed", .timeLimit(.minutes(3))) struct ProviderExchangeTests {
    private let key = textKey("k", .custom(name: "own"))
    private static let sealings = [
        "source: \"keyFile\"", "source: \"keyFile\", cipher: \"AES-256-GCM\"",
        "source: \"passphrase\"", "source: \"passphrase\", cipher: \"AES-256-GCM\", iterations: 10",
    ]

    private func configuration(_ provider: String, _ sealing: String, _ home: SealedHome) throws -> HostConfiguration {
        try home.fixture.configuration(
            SealedHome.vaultText("sealing: { \(sealing) }", more: "encryption: { provider: \"\(provider)\" }"))
    }

    /// A router with a provider; it reads a passphrase from a descriptor.
    private func router(_ provider: String, _ sealing: String, _ home: SealedHome) throws -> StorageRouter {
        guard sealing.contains("passphrase") else {
            return StorageRouter(configuration: try configuration(provider, sealing, home))
        }
        let path = "\(home.folder)/passphrase"
        try Data("correct horse".utf8).write(to: URL(filePath: path))
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        return StorageRouter(configuration: try configuration(provider, "\(sealing), from: \"fd:\(descriptor)\"", home))
    }

    @Test(
        "a store and a policy that derive keys and seal in any usual way can change the provider in both directions",
        arguments: [("openssl", "sodium"), ("sodium", "openssl")], sealings)
    func exchange(_ providers: (String, String), _ sealing: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let policies: [SecurityPolicy] = [
            .encrypted(.aes256()), .encrypted(.chacha20Poly1305()),
            .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: 10))),
        ]
        let keys = policies.enumerated().map { textKey("p\($0.offset)", security: $0.element) }
        let first = try router(providers.0, sealing, home)
        try await first.set("of the store", for: key)
        for key in keys { try await first.set(key.name, for: key) }
        let second = try router(providers.1, sealing, home)
        #expect(try await second.get(key) == "of the store")
        for key in keys { #expect(try await second.get(key) == key.name) }
        try await second.set("again", for: key)
        #expect(try await router(providers.0, sealing, home).get(key) == "again")
    }

    @Test(
        "an algorithm that only one provider has is refused by name, by the configuration and by doctor",
        arguments: [
            ("source: \"passphrase\", derivation: \"Argon2id\"", "derivation", "Argon2id", "PBKDF2-HMAC-SHA256"),
            (
                "source: \"keyFile\", cipher: \"XChaCha20-Poly1305\"", "cipher", "XChaCha20-Poly1305",
                "ChaCha20-Poly1305"
            ),
        ])
    func refusal(_ sealing: String, _ member: String, _ algorithm: String, _ other: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let problems = try configuration("openssl", sealing, home).problems()
        #expect(problems.map(\.path) == [["stores", "vault", "sealing", member]])
        #expect(problems.first?.message == "the crypto provider 'openssl' does not offer \(algorithm)")
        #expect(problems.first?.hint == "set encryption.provider to sodium, or use \(other)")
        #expect(try configuration("sodium", sealing, home).problems().isEmpty)
        // The rest of such a configuration works, and doctor reports the store.
        let router = StorageRouter(configuration: try configuration("openssl", sealing, home))
        try await router.set("x", for: textKey("plain"))
        let findings = await Diagnosis.run { router }
        #expect(findings.contains { $0.isProblem && $0.text.contains("'openssl' does not offer \(algorithm)") })
        let error = try await StorageError.of { try await router.set("x", for: key) }
        // The error comes before the passphrase is asked for.
        #expect(error.message.contains("does not offer \(algorithm)"), "\(error)")
    }

    @Test("the table of missing algorithms matches the providers' declarations", arguments: ["openssl", "sodium"])
    func table(_ provider: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let lacking = try #require(HostConfiguration.lackingAlgorithms[provider])
        let router = StorageRouter(
            configuration: try configuration(provider, "source: \"keyFile\"", home))
        let snapshot = try await router.snapshot()
        let crypto = try await onIOThread { () throws(StorageError) in try snapshot.crypto.openIfNeeded() }
        #expect(KeyDerivation.functions.filter { !crypto.offers($0) } == lacking.derivations)
        // Libsodium offers AES-256-GCM only on some processors.
        let ciphers: [AuthenticatedCipher] = [.chaCha20Poly1305, .xChaCha20Poly1305]
        #expect(ciphers.filter { !crypto.offers($0) } == lacking.ciphers)
    }
}
