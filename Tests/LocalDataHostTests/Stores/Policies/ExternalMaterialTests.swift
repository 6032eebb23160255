import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import LocalDataHost

@Suite("values under external key material", .timeLimit(.minutes(1))) struct ExternalMaterialTests {
    private let key = textKey("token", security: .encrypted(.external(source: PolicyCases.source)))

    private func router(_ home: SealedHome, _ provider: TestMaterial) async throws -> StorageRouter {
        let router = try home.router()
        await router.registerKeyMaterialProvider(provider, for: PolicyCases.source)
        return router
    }

    @Test("the provider is asked for the key's name in each call that seals or opens, and in no other call")
    func asked() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let provider = TestMaterial { name in
            try await Task.sleep(for: .zero)
            return Data(repeating: UInt8(name.utf8.count), count: 16)
        }
        let router = try await router(home, provider)
        let any = AnyStorageKey(key)
        try await router.set("x", for: key)
        #expect(try await router.get(key) == "x")
        #expect(try await router.data(for: any) == Data("\"x\"".utf8))
        #expect(try await router.readPieces(for: any) { _ in true })
        #expect(provider.names == Array(repeating: "token", count: 4))
        #expect(try await router.exists(key))
        #expect(try await router.readStoredPieces(for: any) { _ in true })
        try await router.remove(key)
        #expect(provider.names.count == 4)
        // It needs no ring.
        #expect(try await router.keys.list().isEmpty && home.files("config").isEmpty)
    }

    @Test("the same material opens it in any router; other material is reported as wrong")
    func wrong() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await router(home, TestMaterial(byte: 1)).set("x", for: key)
        let stored = try Data(contentsOf: URL(filePath: home.valueFile("token")))
        for material in [TestMaterial(byte: 2), TestMaterial(byte: 1, count: 33), TestMaterial(byte: 1, count: 31)] {
            let error = try await StorageError.of { try await router(home, material).get(key) }
            #expect(error.code == .cannotOpen && error.message.contains("'userDefaults/token'"))
            #expect(error.message.contains("is not the one that sealed it"))
        }
        #expect(try Data(contentsOf: URL(filePath: home.valueFile("token"))) == stored)
        #expect(try await router(home, TestMaterial(byte: 1)).get(key) == "x")
    }

    @Test("material that is missing, too short or fails is an error that names the source, and the old value stays")
    func failures() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await router(home, TestMaterial(byte: 1)).set("x", for: key)
        let bad = [
            TestMaterial { _ in throw TestMaterial.Unavailable() }, TestMaterial(byte: 1, count: 15),
            TestMaterial(byte: 1, count: 0),
        ]
        var routers = [try home.router()]
        for provider in bad { routers.append(try await router(home, provider)) }
        for router in routers {
            for call in [
                { [key] in try await router.set("y", for: key) }, { [key] in _ = try await router.get(key) },
                { [key] in try await router.writePieces(for: .key(key)) { _ in 0 } },
            ] as [@Sendable () async throws -> Void] {
                let error = try await StorageError.of(call)
                #expect(error.code == .securityApplicationFailed && !error.hint.isEmpty)
                #expect(error.message.contains("'vault'") && error.message.contains("'userDefaults/token'"))
            }
        }
        #expect(try await router(home, TestMaterial(byte: 1)).get(key) == "x")
    }

    @Test("a cancelled caller gets that error, and nothing is written")
    func cancellation() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let begun = Counter()
        let router = try await router(
            home,
            TestMaterial { _ in
                begun.add()
                try await Task.sleep(for: .seconds(3600))
                return Data()
            })
        let task = Task { try await router.set("x", for: key) }
        while begun.value == 0 { await Task.yield() }
        task.cancel()
        let error = try await StorageError.of { try await task.value }
        #expect(error.code == .cancelled && error.message.contains("'vault'") && error.message.contains("token"))
        #expect(try await !router.exists(key))
    }

    @Test("a provider may use the router itself")
    func nested() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let inner = StorageKey<Data>(
            name: "inner", domain: .keychain(service: "s"), security: .keychain(accessibility: .always), owner: "tests",
            description: "material of another key")
        try await router.set(Data(repeating: 5, count: 32), for: inner)
        await router.registerKeyMaterialProvider(
            TestMaterial { _ in try await router.get(inner) }, for: PolicyCases.source)
        try await router.set("x", for: key)
        #expect(try await router.get(key) == "x")
    }
}
