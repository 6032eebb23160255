import FoundationEssentials
import LocalDataAPI
import Testing

@testable import LocalDataHost

@Suite("a store that is sealed with material from a provider", .timeLimit(.minutes(2))) struct ProviderSourceTests {
    private let key = textKey("k", .custom(name: "own"))
    private let source = KeyMaterialSource(id: "hsm")

    private func router(_ home: SealedHome, _ provider: TestMaterial? = nil) async throws -> StorageRouter {
        let router = try home.vault("sealing: { source: \"provider\", name: \"hsm\" }")
        if let provider { await router.registerKeyMaterialProvider(provider, for: source) }
        return router
    }

    @Test("the provider is asked for the store's name, once for each router")
    func roundTrip() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        for value in ["first", "never in plain"] {
            let provider = TestMaterial { _ in
                await Task.yield()
                return Data(repeating: 3, count: 32)
            }
            let router = try await router(home, provider)
            for _ in 0..<3 {
                try await router.set(value, for: key)
                #expect(try await router.get(key) == value)
            }
            #expect(provider.names == ["vault"])
        }
        #expect(!home.contains("never in plain"))
    }

    @Test("material of an unusable size is reported, and nothing is written", arguments: [0, 1, 15])
    func tooShort(_ count: Int) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try await router(home, TestMaterial(byte: 1, count: count))
        let error = try await StorageError.of { try await router.set("x", for: key) }
        #expect(error.code == .securityApplicationFailed)
        #expect(error.message.contains("'hsm' supplied \(count) bytes for 'vault'") && error.message.contains("16"))
        #expect(home.files("data").isEmpty)
    }

    @Test("an unregistered or failing provider is named; later it may work")
    func failing() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try await router(home)
        let absent = try await StorageError.of { try await router.set("x", for: key) }
        #expect(absent.code == .securityApplicationFailed && absent.hint.contains("registerKeyMaterialProvider"))
        #expect(absent.message.contains("'hsm'") && absent.message.contains("'vault'"))
        await router.registerKeyMaterialProvider(TestMaterial { _ in throw TestMaterial.Unavailable() }, for: source)
        let failing = try await StorageError.of { try await router.set("x", for: key) }
        #expect(failing.code == .securityApplicationFailed && failing.message.contains("failed for 'vault'"))
        #expect(home.files("data").isEmpty)
        await router.registerKeyMaterialProvider(TestMaterial(byte: 1), for: source)
        try await router.set("x", for: key)
        #expect(try await router.get(key) == "x")
    }

    @Test("another key is reported as the wrong one at once, and everything stays")
    func wrong() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await router(home, TestMaterial(byte: 1)).set("x", for: key)
        let before = home.files("data")
        let wrong = try await router(home, TestMaterial(byte: 2))
        for call in [
            { [key] in _ = try await wrong.get(key) }, { [key] in try await wrong.set("y", for: key) },
        ] as [() async throws -> Void] {
            let error = try await StorageError.of(call)
            #expect(
                error.code == .cannotOpen && error.message.contains("the key material provider 'hsm' is not the one"))
        }
        #expect(home.files("data") == before)
        #expect(try await router(home, TestMaterial(byte: 1)).get(key) == "x")
    }
}
