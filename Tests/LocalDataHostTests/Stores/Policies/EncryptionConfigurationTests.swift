import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostSealing
@testable import LocalDataHost

@Suite("changes of the encryption's configuration") struct EncryptionConfigurationTests {
    private static let passphrase = SecurityPolicy.encrypted(.aes256(keyDerivation: .pbkdf2()))

    private func header(_ key: StorageKey<String>, _ router: StorageRouter) async throws -> EnvelopeHeader {
        let pieces = Pieces()
        _ = try await router.readStoredPieces(for: .key(key)) {
            pieces.add($0)
            return true
        }
        return try pieces.data.withUnsafeBytes { try EnvelopeHeader(parsing: $0) }
    }

    @Test("after any change of settings, old values stay readable, and new values use the new settings")
    func oneAfterTheOther() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router("encryption: { iterations: 10 }")
        let steps: [(EncryptionConfiguration, ring: String?, iterations: UInt32)] = [
            (EncryptionConfiguration(), nil, 10),
            (EncryptionConfiguration(masterKeyService: "other"), "other\0master", 10),
            (EncryptionConfiguration(masterKeyService: "other", masterKeyAccount: "mine"), "other\0mine", 10),
            (EncryptionConfiguration(masterKeyAccount: "mine", masterKeyLength: 64), "LocalData\0mine", 10),
            (EncryptionConfiguration(masterKeyLength: 48, pbkdf2Iterations: 20), nil, 20),
            (
                EncryptionConfiguration(masterKeyService: "e", masterKeyLength: 64, pbkdf2Iterations: 30), "e\0master",
                30
            ),
        ]
        var keys: [StorageKey<String>] = []
        for (index, step) in steps.enumerated() {
            await router.updateEncryptionConfiguration(step.0)
            let (fast, slow) = (
                textKey("fast \(index)", security: .recommended), textKey("slow \(index)", security: Self.passphrase)
            )
            for key in [fast, slow] {
                try await router.set(key.name, for: key)
                #expect(try await header(key, router).ring == step.ring)
            }
            guard case .pbkdf2(let iterations, _) = try await header(slow, router).derivation else {
                Issue.record("it is not derived as the policy says")
                return
            }
            #expect(iterations == step.iterations)
            keys += [fast, slow]
            for reader in [router, try home.router()] {
                for key in keys { #expect(try await reader.get(key) == key.name) }
            }
        }
        // A new value is sealed with the ring that is configured.
        try await router.set("again", for: keys[0])
        #expect(try await header(keys[0], router).ring == "e\0master")
        #expect(try await home.router().get(keys[0]) == "again")
    }

    @Test("a key has the length that the configuration had when it was created", arguments: [32, 33, 48, 64])
    func keyLength(_ length: Int) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        await router.updateEncryptionConfiguration(EncryptionConfiguration(masterKeyLength: length))
        try await router.set("x", for: textKey("k", security: .recommended))
        let snapshot = try await router.snapshot()
        let state = try #require(
            try await onIOThread { () throws(StorageError) in
                try snapshot.rings.ring(named: nil).state()
            })
        #expect(state.entries.map(\.material.count) == [length])
        #expect(try await home.router().get(textKey("k", security: .recommended)) == "x")
    }

    static let mistakes: [EncryptionConfiguration] = [
        EncryptionConfiguration(masterKeyLength: 31), EncryptionConfiguration(masterKeyLength: 65),
        EncryptionConfiguration(masterKeyLength: -1), EncryptionConfiguration(pbkdf2Iterations: 0),
        EncryptionConfiguration(pbkdf2Iterations: 10_000_001), EncryptionConfiguration(pbkdf2Iterations: .min),
    ]

    @Test("an invalid one fails every call until a valid one is set", arguments: mistakes.indices)
    func unusable(_ index: Int) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let key = textKey("k", security: .recommended)
        try await router.set("x", for: key)
        await router.updateEncryptionConfiguration(Self.mistakes[index])
        for _ in 0..<2 {
            let error = try await StorageError.of { try await router.get(key) }
            #expect(error.code == .invalidConfiguration && error.message.contains("encryption."))
            await #expect(throws: StorageError.invalidConfiguration) { try await router.set("y", for: key) }
            await #expect(throws: StorageError.invalidConfiguration) { try await router.keys.list() }
        }
        await router.updateEncryptionConfiguration(EncryptionConfiguration())
        #expect(try await router.get(key) == "x")
    }

    @Test(
        "a ring's name that cannot be an address fails only the sealing of values", arguments: ["", "a\0b"])
    func unusableNames(_ name: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        await router.updateEncryptionConfiguration(EncryptionConfiguration(masterKeyAccount: name))
        let error = try await StorageError.of {
            try await router.set("x", for: textKey("k", security: .recommended))
        }
        #expect([.securityApplicationFailed, .invalidConfiguration].contains(error.code))
        #expect(!FileManager.default.fileExists(atPath: "\(home.folder)/data"))
    }
}
