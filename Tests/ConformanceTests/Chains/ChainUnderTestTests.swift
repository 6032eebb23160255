import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import LocalDataTesting
import Testing

@Suite("The tester of chains") struct ChainUnderTestTests {
    private struct V1: Codable, Sendable, Equatable {
        let theme: String
    }

    private struct V2: Codable, Sendable, Equatable {
        let theme: String
        let notifications: Bool
    }

    private static func key(_ convert: @escaping @Sendable (V1) throws -> V2) throws -> StorageKey<V2> {
        let builder = DataMigrator<V2>.Builder(targetType: V2.self)
        builder.register(from: V1.self, to: V2.self) { try convert($0) }
        return StorageKey(
            name: "settings", domain: .userDefaults(), security: .none, owner: "tests", description: "settings",
            migrator: try builder.build())
    }

    @Test("reads what an earlier release stored, with and without its tag, and what this one stores")
    func reads() async throws {
        let subject = ChainUnderTest(try Self.key { V2(theme: $0.theme, notifications: true) })
        #expect(try await subject.read(V1(theme: "dark")) == V2(theme: "dark", notifications: true))
        #expect(try await subject.read(V1(theme: "dark"), versionTag: "V1") == V2(theme: "dark", notifications: true))
        #expect(
            try await subject.read(V2(theme: "dark", notifications: false)) == V2(theme: "dark", notifications: false))
    }

    @Test("fails as a read does, and for a key without versions")
    func fails() async throws {
        struct Refused: Error {}
        let subject = ChainUnderTest(try Self.key { _ in throw Refused() })
        await #expect(throws: MigrationError.transformationFailed) { try await subject.read(V1(theme: "dark")) }
        await #expect(throws: MigrationError.decodingFailed) { try await subject.read(Data("[]".utf8)) }
        let plain = StorageKey<V2>(name: "k", domain: .userDefaults(), security: .none, owner: "t", description: "d")
        let error = await #expect(throws: MigrationError.self) {
            try await ChainUnderTest(plain).read(V1(theme: "dark"))
        }
        #expect(error?.message == "the key 'userDefaults/k': it has no versions")
    }

    @Test("comes with migrations that do what a test says")
    func migrations() async throws {
        let key = StorageKey<String>(name: "k", domain: .userDefaults(), security: .none, owner: "t", description: "d")
        var router = try await StorageRouter.inMemory()
        try await router.registerMigration(MockMigration(destinationKey: key, bringing: "brought"))
        #expect(try await router.get(key) == "brought")
        router = try await StorageRouter.inMemory()
        try await router.registerMigration(
            MockMigration(destinationKey: key, shouldMigrate: false, bringing: "brought"))
        #expect(try await router.value(of: key) == nil)
        router = try await StorageRouter.inMemory()
        try await router.registerMigration(
            MockMigration(destinationKey: key, delay: .milliseconds(1), bringing: "brought", shouldSucceed: false))
        await #expect(throws: MigrationError.transformationFailed) { try await router.get(key) }
        router = try await StorageRouter.inMemory()
        try await router.registerMigration(
            FailingMigration(destinationKey: key, error: MigrationError(.sourceDataNotFound)))
        await #expect(throws: MigrationError.sourceDataNotFound) { try await router.get(key) }
    }
}
