import FoundationEssentials
import LocalDataAPI
import Testing

@testable import LocalDataHost

@Suite("refusals of the router") struct RouterRefusalTests {
    let fixture: FixtureBuilder

    init() throws { fixture = try FixtureBuilder() }

    static let protected: [(StorageDomain, SecurityPolicy)] = [
        (.userDefaults(), .recommended),
        (.userDefaults(), .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: 1000)))),
        (.userDefaults(), .encrypted(.external(source: KeyMaterialSource(id: "x")))),
        (.userDefaults(), .keychain(accessibility: .whenUnlocked)),
        (.keychain(service: "s"), .keychain(accessibility: .always, accessControl: .biometryAny)),
        (.fileSystem(), .recommended), (.encryptedFileSystem(), .recommended),
        // Never stored in plain, whatever the key says.
        (.encryptedFileSystem(), .none), (.keychain(service: "s"), .none),
    ]

    @Test(
        "a value that cannot be protected as its key says is neither written nor read", arguments: protected.indices
    )
    func protection(_ index: Int) async throws {
        defer { fixture.remove() }
        let (domain, policy) = Self.protected[index]
        let router = try StorageRouter.inMemory(fixture)
        let key = AnyStorageKey(textKey("secret", domain, security: policy))
        let calls: [@Sendable () async throws -> Void] = [
            { try await router.set("top secret", for: textKey("secret", domain, security: policy)) },
            { try await router.setData(Data("top secret".utf8), for: key) },
            { try await router.writePieces(for: key) { _ in 0 } },
            { _ = try await router.get(textKey("secret", domain, security: policy)) },
            { _ = try await router.data(for: key) }, { _ = try await router.readPieces(for: key) { _ in true } },
        ]
        for call in calls {
            let error = try await #require(throws: StorageError.self) { try await call() }
            #expect(error.code == .securityApplicationFailed)
            #expect(error.message.contains("/secret'") && !error.message.contains("top secret") && !error.hint.isEmpty)
        }
        #expect(try await !router.exists(key))
        #expect(try await router.names(in: domain).isEmpty)
    }

    @Test("a key without its own policy must be encrypted")
    func defaultPolicy() async throws {
        defer { fixture.remove() }
        let router = try StorageRouter.inMemory(fixture)
        let key = StorageKey<String>(name: "k", domain: .userDefaults(), owner: "tests", description: "a key")
        await #expect(throws: StorageError.securityApplicationFailed) { try await router.set("x", for: key) }
        #expect(try await !router.exists(textKey("k")))
    }

    static let roles: [(DeviceRole, PlatformAvailability, StorageError.Code?)] = [
        (.all, .all, nil), (.all, .phoneOnly, nil), (.all, .watchOnly, nil), (.all, .phoneWithWatchSync, nil),
        (.phone, .all, nil), (.phone, .phoneOnly, nil), (.phone, .watchOnly, .watchOnlyKeyAccessedOnPhone),
        (.phone, .phoneWithWatchSync, nil), (.watch, .all, nil), (.watch, .phoneOnly, .phoneOnlyKeyAccessedOnWatch),
        (.watch, .watchOnly, nil), (.watch, .phoneWithWatchSync, nil),
    ]

    @Test("a key is used only on the devices that it is for", arguments: roles.indices)
    func availability(_ index: Int) async throws {
        defer { fixture.remove() }
        let (role, availability, code) = Self.roles[index]
        let router = try StorageRouter.inMemory(fixture, "device: { role: \"\(role.rawValue)\" }")
        let key = textKey("k", availability: availability)
        guard let code else {
            try await router.set("x", for: key)
            #expect(try await router.get(key) == "x")
            return
        }
        let error = try await #require(throws: StorageError.self) { try await router.set("x", for: key) }
        #expect(error.code == code)
        #expect(error.message.contains("'userDefaults/k'") && error.message.contains("'\(role.rawValue)'"))
        #expect(error.hint.contains("device.role"))
        #expect(try await !router.exists(textKey("k")))
    }

    @Test("a value that is not stored is not found, by the address and the store's name")
    func notFound() async throws {
        defer { fixture.remove() }
        let router = try StorageRouter.inMemory(fixture)
        let key = textKey("k", .userDefaults(suite: "a/b"))
        let error = try await #require(throws: StorageError.self) { try await router.get(key) }
        #expect(error.code == .notFound)
        #expect(error.message == "'userDefaults:a%2Fb/k' is not stored in 'memory'")
        #expect(try await router.data(for: .key(key)) == nil)
        #expect(try await router.attributes(of: .key(key)) == nil)
        #expect(try await !router.remove(.key(key)))
        try await router.remove(key)
    }

    @Test("bytes that do not decode stay, and are not shown")
    func deserialization() async throws {
        defer { fixture.remove() }
        let router = try StorageRouter.inMemory(fixture)
        let key = textKey("k")
        try await router.set("hunter2", for: key)
        let number = StorageKey<Int>(
            name: "k", domain: .userDefaults(), security: .none, owner: "tests", description: "the same name")
        let error = try await #require(throws: StorageError.self) { try await router.get(number) }
        #expect(error.code == .deserializationFailed)
        #expect(error.message.contains("'userDefaults/k'") && error.message.contains("Int"))
        #expect(!"\(error)".contains("hunter2"))
        #expect(try await router.get(key) == "hunter2")
    }

    @Test("a value that its serializer refuses leaves the old one")
    func serialization() async throws {
        defer { fixture.remove() }
        let router = try StorageRouter.inMemory(fixture)
        let key = StorageKey<Double>(
            name: "k", domain: .userDefaults(), security: .none, owner: "tests", description: "a number")
        try await router.set(1.5, for: key)
        await #expect(throws: StorageError.serializationFailed) { try await router.set(.nan, for: key) }
        #expect(try await router.get(key) == 1.5)
    }

    @Test("a value larger than the store accepts is refused, and the old one stays")
    func tooLarge() async throws {
        defer { fixture.remove() }
        _ = try await fixture.build("FIXTURE_LARGEST=10")
        let router = StorageRouter(configuration: try fixture.configuration("domains: { userDefaults: \"fixture\" }"))
        let key = AnyStorageKey(textKey("k"))
        try await router.setData(Data(count: 10), for: key)
        let error = try await #require(throws: StorageError.self) {
            try await router.setData(Data(count: 11), for: key)
        }
        #expect(error.code == .valueTooLarge && error.message.contains("11 bytes; the store accepts at most 10"))
        #expect(try await router.data(for: key) == Data(count: 10))
    }

    private struct Renamed: StorageMigration {
        let destinationKey: StorageKey<String>
        func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool { true }
        func migrate(
            using router: any StorageProviding, context: MigrationContext
        ) async throws -> MigrationResult { MigrationResult(success: true) }
    }

    @Test("a key whose older data cannot be migrated is not reported as absent")
    func migration() async throws {
        defer { fixture.remove() }
        let router = try StorageRouter.inMemory(fixture)
        let key = StorageKey<String>(
            name: "k", domain: .userDefaults(), security: .none, owner: "tests", description: "a key",
            migration: { AnyStorageMigration(Renamed(destinationKey: $0)) })
        // Its migration claims to have something to do and to be done, but brings nothing.
        let error = try await #require(throws: MigrationError.self) { try await router.get(key) }
        #expect(error.code == .validationFailed && error.message.contains("'userDefaults/k'"))
        await #expect(throws: MigrationError.validationFailed) { try await router.forceMigration(for: key) }
        #expect(try await router.forceMigration(for: textKey("k")).outcome == .noMigration)
        // The key itself can still be written and read.
        try await router.set("new", for: key)
        #expect(try await router.get(key) == "new")
    }
}
