import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import Synchronization
import TestSupport
import Testing

@Suite("A sealed value at an address that nobody has declared") struct UndeclaredKeyTests {
    private static let policies: [SecurityPolicy] = [
        .recommended, .encrypted(.aes256()), .encrypted(.chacha20Poly1305(keyDerivation: .pbkdf2(iterations: 1000))),
        .encrypted(.chacha20Poly1305(keyDerivation: .hkdf(salt: Data([1, 2]), info: Data([3])))),
    ]
    private static let domains: [StorageDomain] = [.userDefaults(), .fileSystem(), .keychain(service: "com.example")]

    @Test("is opened, and replaced by one that the app reads", arguments: policies, domains)
    func opened(policy: SecurityPolicy, domain: StorageDomain) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let app = textKey("token", domain, security: policy)
        try await home.router().set("secret", for: app)
        let tool = try home.router()
        let key = try await tool.key(at: "\(domain)/token")
        #expect(try await tool.data(for: key) == Data("\"secret\"".utf8))
        #expect(try await tool.attributes(of: key)?.size == 8)
        try await tool.setData(Data("\"new\"".utf8), for: key)
        #expect(try await home.router().get(app) == "new")
        #expect(!home.contains("\"new\""))
        try await tool.batch { $0.setData(Data("\"newer\"".utf8), for: key) }
        #expect(try await home.router().get(app) == "newer")
        #expect(!home.contains("\"newer\""))
    }

    @Test("is refused by name if only its app has the key material, and can be removed")
    func external() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let source = KeyMaterialSource(id: "hsm")
        let router = try home.router()
        await router.registerKeyMaterialProvider(TestMaterial(byte: 7), for: source)
        let app = textKey("token", security: .encrypted(.external(source: source)))
        try await router.set("secret", for: app)
        let tool = try home.router()
        let key = try await tool.key(at: "userDefaults/token")
        for call in [
            { _ = try await tool.data(for: key) }, { try await tool.setData(Data("plain".utf8), for: key) },
            { try await tool.batch { $0.setData(Data("plain".utf8), for: key) } },
            { _ = try await tool.readData(for: key) { _ in true } },
            { _ = try await tool.revisionedData(for: key) },
        ] as [@Sendable () async throws -> Void] {
            let error = await #expect(throws: StorageError.self) { try await call() }
            #expect(error?.code == .securityApplicationFailed)
            #expect(error?.message.contains("'userDefaults/token' is sealed") == true)
            #expect(error?.hint.contains("catalogs") == true && error?.hint.contains("envelope inspect") == true)
        }
        #expect(try await router.get(app) == "secret")
        #expect(try await tool.exists(key))
        #expect(try await tool.remove(key))
    }

    @Test("is not opened with a derivation that would keep the processor busy for long")
    func costly() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let policy = SecurityPolicy.encrypted(.chacha20Poly1305(keyDerivation: .pbkdf2(iterations: 5_000_000)))
        try await home.router().set("secret", for: textKey("token", security: policy))
        let tool = try home.router()
        let key = try await tool.key(at: "userDefaults/token")
        let error = await #expect(throws: StorageError.self) { try await tool.data(for: key) }
        #expect(error?.message.contains("5000000 iterations") == true)
    }

    @Test("is refused also if it was sealed after the key was looked up")
    func sealedMeanwhile() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let key = try await router.key(at: "userDefaults/token")
        try await router.set("secret", for: textKey("token", security: .recommended))
        await #expect(throws: StorageError.securityApplicationFailed) { try await router.data(for: key) }
        await #expect(throws: StorageError.securityApplicationFailed) {
            try await router.readData(for: key) { _ in true }
        }
    }

    @Test("is said to be sealed to a key that reads it as a plain value", arguments: ["file", "sqlite", "memory"])
    func plainKey(store: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router(domains: "userDefaults: \"\(store)\"")
        try await router.set("secret", for: textKey("token", security: .recommended))
        for _ in 0..<2 {
            let error = await #expect(throws: StorageError.self) { try await router.get(textKey("token")) }
            #expect(error?.code == .securityApplicationFailed)
            #expect(error?.message == "'userDefaults/token' is sealed, and its key reads it as a plain value")
        }
    }

    @Test("bytes that begin like an envelope are any value's of a declared key, and stay as they are")
    func ownBytes() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("secret", for: textKey("token", security: .recommended))
        let token = try await router.key(at: "userDefaults/token")
        let envelope = Mutex(Data())
        _ = try await router.readStoredPieces(for: token) { piece in
            envelope.withLock { $0.append(contentsOf: piece) }
            return true
        }
        let bytes = envelope.withLock { $0 }
        let copy = StorageKey<Data>(
            name: "copy", domain: .userDefaults(), security: .none, serializer: .data, owner: "tests",
            description: "bytes of an envelope")
        try await router.set(bytes, for: copy)
        #expect(try await router.get(copy) == bytes)
    }
}
