import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostStores
@testable import LocalDataHost

@Suite("what an app says of itself") struct StorageConfigurationTests {
    private static func key(_ security: SecurityPolicy) -> StorageKey<String> {
        StorageKey(
            name: "token", domain: .keychain(service: "app"), security: security, owner: "tests",
            description: "A secret.")
    }

    @Test("an access control is refused with the app's way to accept that it is not enforced, which then works")
    func accessControl() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let key = Self.key(.keychain(accessibility: .afterFirstUnlock, accessControl: .biometryAny))
        let error = await #expect(throws: StorageError.self) { try await router.set("x", for: key) }
        #expect(error?.code == .securityApplicationFailed)
        let way = "StorageConfiguration(accessControl: .advisory) with updateStorageConfiguration"
        #expect(error?.hint.contains(way) == true)
        await router.updateStorageConfiguration(StorageConfiguration(accessControl: .advisory))
        try await router.set("x", for: key)
        #expect(try await router.get(key) == "x")
        await router.updateStorageConfiguration(StorageConfiguration(accessControl: .enforced))
        await #expect(throws: StorageError.securityApplicationFailed) { try await router.get(key) }
    }

    @Test("an accessibility that no store enforces is served, unless the app says otherwise")
    func accessibility() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let key = Self.key(.keychain(accessibility: .whenUnlocked))
        try await router.set("x", for: key)
        await router.updateStorageConfiguration(StorageConfiguration(accessibility: .enforced))
        let error = await #expect(throws: StorageError.self) { try await router.get(key) }
        #expect(error?.code == .securityApplicationFailed)
        #expect(error?.hint.contains("StorageConfiguration(accessibility: .advisory)") == true)
        await router.updateStorageConfiguration(StorageConfiguration(accessibility: .advisory))
        #expect(try await router.get(key) == "x")
    }

    @Test("the versions of the app and of data without one are settings of the code")
    func versions() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router("app: { version: \"1.0.0\" }, migrations: { dataVersion: \"0.1.0\" }")
        await router.updateStorageConfiguration(StorageConfiguration(appVersion: "2.1.0", dataVersion: "0.9.0"))
        try await router.set("x", for: textKey("k"))
        #expect(try await router.attributes(of: .key(textKey("k")))?.appVersion == "2.1.0")
        #expect(try await router.snapshot().settings.dataVersion == "0.9.0")
        await router.updateStorageConfiguration(StorageConfiguration())
        #expect(try await router.snapshot().settings.appVersion == "1.0.0")
        #expect(try await router.snapshot().settings.dataVersion == "0.1.0")
    }

    @Test("a key that names no service has the app's own, unless a default is set")
    func service() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router("app: { id: \"notes\" }")
        let key = StorageKey<String>(
            name: "token", domain: .keychain(), security: .keychain(accessibility: .afterFirstUnlock), owner: "tests",
            description: "A secret.")
        #expect(try await "\(router.resolve(KeyReference(key)).address)" == "keychain:notes/token")
        await router.updateStorageConfiguration(StorageConfiguration(defaultKeychainService: "team"))
        #expect(try await "\(router.resolve(KeyReference(key)).address)" == "keychain:team/token")
    }
}
