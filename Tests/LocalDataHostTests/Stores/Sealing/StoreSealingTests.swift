import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostSealing
@testable import LocalDataHost

@Suite("sealing that is turned on or off, or changed", .timeLimit(.minutes(2))) struct StoreSealingTests {
    private let key = textKey("k", .custom(name: "own"))
    private let sealing = "sealing: \"keyFile\""

    @Test("plain values in a store that is sealed now are refused as never sealed, and stay")
    func switchedOn() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let keys = ["", "x", String(repeating: "long ", count: 40_000)].enumerated().map {
            (textKey("k\($0.offset)", .custom(name: "own")), $0.element)
        }
        for (key, value) in keys { try await home.vault("").set(value, for: key) }
        let sealed = try home.vault(sealing)
        try await sealed.set("sealed", for: key)
        for (key, _) in keys {
            let stored = try Data(contentsOf: URL(filePath: home.valueFile(key.name)))
            for call in [
                { _ = try await sealed.get(key) }, { _ = try await sealed.attributes(of: .key(key)) },
                { _ = try await sealed.readPieces(for: .key(key), verifying: .chunks) { _ in true } },
            ] as [() async throws -> Void] {
                let error = try await StorageError.of(call)
                #expect(error.code == .cannotOpen && error.message.contains("'own/\(key.name)'"), "\(error)")
                #expect(error.message.contains("never sealed") && error.message.contains("stay as they are"))
            }
            #expect(try Data(contentsOf: URL(filePath: home.valueFile(key.name))) == stored)
        }
        #expect(try await sealed.keys.reseal(.store("vault")).total == 1)
        for (key, value) in keys { #expect(try await home.vault("").get(key) == value) }
        // Without sealing, the sealed value is never taken for a plain one.
        let forgetful = try home.vault("")
        for call in [
            { _ = try await forgetful.get(key) }, { _ = try await forgetful.data(for: .key(key)) },
            { _ = try await forgetful.revisionedData(for: .key(key)) },
            { _ = try await forgetful.readPieces(for: .key(key)) { _ in true } },
        ] as [() async throws -> Void] {
            let error = try await StorageError.of(call)
            #expect(error.code == .securityApplicationFailed && error.message.contains("'own/\(key.name)'"), "\(error)")
        }
        // A plain value can be replaced or removed.
        try await sealed.set("again", for: keys[0].0)
        #expect(try await sealed.get(keys[0].0) == "again")
        try await sealed.remove(keys[1].0)
        #expect(try await !sealed.exists(keys[1].0))
    }

    static let ciphers = ["AES-256-GCM", "ChaCha20-Poly1305"]

    @Test("another cipher seals new values, and reseal re-encrypts the rest")
    func cipher() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        func router(_ cipher: String) throws -> StorageRouter {
            try home.vault("sealing: { source: \"keyFile\", cipher: \"\(cipher)\" }")
        }
        func ciphers() throws -> [String] {
            try ["a", "b", "c"].map { name in
                let stored = try Data(contentsOf: URL(filePath: home.valueFile(name)))
                return try stored.withUnsafeBytes { try EnvelopeHeader(parsing: $0).cipher.name }
            }
        }
        let keys = ["a", "b", "c"].map { textKey($0, .custom(name: "own")) }
        for key in keys { try await router(Self.ciphers[0]).set(key.name, for: key) }
        let changed = try router(Self.ciphers[1])
        for key in keys { #expect(try await changed.get(key) == key.name) }
        try await changed.set("b", for: keys[1])
        #expect(try ciphers() == [Self.ciphers[0], Self.ciphers[1], Self.ciphers[0]])
        let plan = try await changed.keys.reseal(.store("vault"), planOnly: true)
        #expect(plan.total == 3 && plan.resealed == 2 && plan.others == [plan.key: 2])
        #expect(try ciphers()[0] == Self.ciphers[0])
        let report = try await changed.keys.reseal(.store("vault"))
        #expect(report.resealed == 2 && report.failures.isEmpty)
        #expect(try ciphers() == [String](repeating: Self.ciphers[1], count: 3))
        for router in [changed, try router(Self.ciphers[0])] {
            for key in keys { #expect(try await router.get(key) == key.name) }
        }
        #expect(try await changed.keys.reseal(.store("vault")).resealed == 0)
    }

    @Test("one provider opens what the other sealed: the ring, the master ring and the values")
    func providers() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let encrypted = textKey("e", .custom(name: "own"), security: .recommended)
        func router(_ provider: String) throws -> StorageRouter {
            try home.vault(sealing, more: "encryption: { provider: \"\(provider)\" }")
        }
        for (first, second) in [("openssl", "sodium"), ("sodium", "openssl")] {
            for key in [key, encrypted] { try await router(first).set(first, for: key) }
            for key in [key, encrypted] { #expect(try await router(second).get(key) == first) }
        }
        #expect(try await router("sodium").keys.list().count == 1)
        let changing = try router("openssl")
        try await changing.set("x", for: key)
        try await changing.configure("encryption.provider", "sodium")
        #expect(try await changing.get(key) == "x")
    }

    @Test("a cipher or a derivation that the provider does not offer is refused by name")
    func notOffered() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        for (sealing, word) in [
            ("source: \"keyFile\", cipher: \"XChaCha20-Poly1305\"", "XChaCha20-Poly1305"),
            ("source: \"keyFile\", derivation: \"Argon2id\"", "Argon2id"),
        ] {
            let router = try home.vault("sealing: { \(sealing) }", more: "encryption: { provider: \"openssl\" }")
            let error = try await StorageError.of { try await router.set("x", for: key) }
            #expect(error.code == .unsupported && error.message.contains("'openssl' does not offer \(word)"))
            let sodium = try home.vault("sealing: { \(sealing) }", more: "encryption: { provider: \"sodium\" }")
            try await sodium.set("x", for: key)
            #expect(try await sodium.get(key) == "x")
            let unable = try await StorageError.of { try await router.get(key) }
            #expect(unable.code == .cannotOpen && unable.hint.contains("encryption.provider"))
            try FileManager.default.removeItem(atPath: "\(home.folder)/data")
            try FileManager.default.removeItem(atPath: "\(home.folder)/state")
        }
    }

    @Test("with libsodium a passphrase is stretched by Argon2id, and the ring's header has the parameters")
    func argon2id() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        func router(_ byte: UInt8, passes: Int) async throws -> StorageRouter {
            let router = try home.vault(
                "sealing: { source: \"provider\", name: \"p\", derivation: \"Argon2id\", iterations: \(passes), memory: 8 }",
                more: "encryption: { provider: \"sodium\" }")
            await router.registerKeyMaterialProvider(TestMaterial(byte: byte), for: KeyMaterialSource(id: "p"))
            return router
        }
        try await router(1, passes: 2).set("x", for: key)
        let ring = try Data(contentsOf: URL(filePath: home.valueFile("ring")))
        let header = try ring.withUnsafeBytes { try EnvelopeHeader(parsing: $0) }
        guard case .argon2id(2, 8192, let salt) = header.derivation else {
            Issue.record("the header says \(header.derivation)")
            return
        }
        #expect(salt.count == 16)
        // The configured parameters are for new rings; an existing one states its own.
        #expect(try await router(1, passes: 3).get(key) == "x")
        await #expect(throws: StorageError.cannotOpen) { try await router(2, passes: 2).get(key) }
    }

    static let mistakes = [
        ("{ source: \"keyFile\", from: \"fd:3\" }", "'from' has no meaning for the source 'keyFile'"),
        ("{ source: \"passphrase\", path: \"/k\" }", "'path' has no meaning for the source 'passphrase'"),
        ("{ source: \"passphrase\", from: \"stdin\" }", "expected terminal, or fd:N"),
        ("{ source: \"passphrase\", from: \"fd:-1\" }", "expected terminal, or fd:N"),
        ("{ source: \"credential\", name: \"../x\" }", "without '/'"),
        ("{ source: \"provider\" }", "'name' is missing"),
        ("{ source: \"provider\", service: \"s\", name: \"x\" }", "'service' has no meaning"),
    ]

    @Test("a sealing that contradicts itself is refused with its position", arguments: mistakes.indices)
    func mistake(_ index: Int) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let error = try await StorageError.of { _ = try home.vault("sealing: \(Self.mistakes[index].0)") }
        #expect(error.code == .invalidConfiguration && error.message.contains(Self.mistakes[index].1), "\(error)")
        #expect(error.message.contains("stores.vault.sealing") && !error.hint.isEmpty)
    }
}
