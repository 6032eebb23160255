import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import LocalDataTesting
import Testing

@Suite("Stores that misbehave on demand, behind a router in memory")
struct FaultTests {
    private static func key(_ name: String = "theme") -> StorageKey<String> {
        StorageKey(
            name: name, domain: .userDefaults(), security: .none, owner: "Tests", description: "A key of these tests.")
    }

    @Test("a router in memory serves keys, and two share nothing")
    func routersInMemory() async throws {
        let (first, second) = (try await StorageRouter.inMemory(), try await StorageRouter.inMemory())
        try await first.set("dark", for: Self.key())
        #expect(try await first.get(Self.key()) == "dark")
        await #expect(throws: StorageError.notFound) { try await second.get(Self.key()) }
        try await first.remove(Self.key())
        #expect(try await !first.exists(Self.key()))
    }

    @Test("a router in memory serves keys of every security in every domain")
    func everyKey() async throws {
        let router = try await StorageRouter.inMemory()
        let policies: [SecurityPolicy] = [
            .none, .recommended, .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: nil))),
            .encrypted(.chacha20Poly1305(keyDerivation: .hkdf())),
            .encrypted(.external(source: KeyMaterialSource(id: "nobody"), keyDerivation: .hkdf())),
            .keychain(accessibility: .afterFirstUnlock),
            .keychain(accessibility: .whenUnlocked, accessControl: .biometryAny),
        ]
        let domains: [StorageDomain] = [
            .userDefaults(), .fileSystem(), .encryptedFileSystem(), .keychain(service: "tests"),
            .appGroupUserDefaults(identifier: "group.tests"),
        ]
        for (index, security) in policies.enumerated() {
            for domain in domains {
                let key = StorageKey<String>(
                    name: "key \(index)", domain: domain, security: security, owner: "Tests",
                    description: "A key of these tests.")
                // A mistake in the key itself is still reported.
                if case .keychain = domain, security == .none {
                    await #expect(throws: StorageError.securityApplicationFailed) {
                        try await router.set("x", for: key)
                    }
                    continue
                }
                try await router.set("first", for: key)
                #expect(try await router.get(key) == "first", "\(key)")
                try await router.batch { try $0.set("second", for: key) }
                #expect(try await router.get(key) == "second", "\(key)")
                try await router.batch { $0.remove(key) }
                #expect(try await !router.exists(key), "\(key)")
            }
        }
    }

    @Test("a router in memory migrates without a home to write in")
    func migrationInMemory() async throws {
        let home = "/nonexistent/.local"
        let wasThere = FileManager.default.fileExists(atPath: home)
        let router = try await StorageRouter.inMemory()
        try await router.set("dark", for: Self.key("old"))
        try await router.registerMigration(
            SimpleLegacyMigration(destinationKey: Self.key(), sourceKey: AnyStorageKey(Self.key("old"))))
        #expect(try await router.get(Self.key()) == "dark")
        #expect(try await !router.exists(Self.key("old")))
        #expect(FileManager.default.fileExists(atPath: home) == wasThere)
    }

    @Test("a failing store fails every nth call with the error that it was given, and recovers")
    func failingStore() async throws {
        let store = FailingStore(InMemoryStore())
        let router = try await StorageRouter.serving(store)
        try await router.set("light", for: Self.key())
        store.fail(with: .noSpace, calls: [.set], every: 2)
        try await router.set("1", for: Self.key())
        await #expect(throws: StorageError.noSpace) { try await router.set("2", for: Self.key()) }
        #expect(try await router.get(Self.key()) == "1")
        try await router.set("3", for: Self.key())
        await #expect(throws: StorageError.noSpace) { try await router.set("4", for: Self.key()) }
        store.recover()
        for text in ["5", "6", "7"] { try await router.set(text, for: Self.key()) }
        #expect(try await router.get(Self.key()) == "7")
    }

    @Test("a failing store fails as often as requested, and only the requested calls")
    func failingStoreEnds() async throws {
        let store = FailingStore(InMemoryStore())
        let router = try await StorageRouter.serving(store)
        store.fail(with: .storeUnavailable, calls: [.get], times: 1)
        try await router.set("light", for: Self.key())
        await #expect(throws: StorageError.storeUnavailable) { try await router.get(Self.key()) }
        #expect(try await router.get(Self.key()) == "light")
    }

    @Test("a failing store counts a bulk read and a bulk change as one call each")
    func failingMany() throws {
        let failing = FailingStore(InMemoryStore())
        let table = Plugin.export(
            "Failing", version: "0", .storage(FailingStore<InMemoryStore>.self) { _, _ in failing })
        let store = try PluginImage(linked: table, name: "Failing").openStore(
            "in-memory", options: [:], folder: "/nonexistent", log: SilentLog())
        let place = StorageNamespace(domain: "userDefaults")
        failing.fail(with: .noSpace, calls: [.set], times: 1)
        #expect(throws: StorageError.noSpace) { try store.apply(BulkChangeList(capacity: 0)) }
        #expect(try store.apply(BulkChangeList(capacity: 0)) == [])
        failing.fail(with: .storeUnavailable, calls: [.get], times: 1)
        #expect(throws: StorageError.storeUnavailable) { try store.forEachValue(in: place) { _ in true } }
        try store.forEachValue(in: place) { _ in true }
    }

    @Test("a read from a disk store that is busy is retried on a thread that may wait; no other call is")
    func busyReads() async throws {
        let store = FailingStore(DelayingStore(InMemoryStore(), by: .zero, calls: [], declaring: .disk))
        let router = try await StorageRouter.serving(store)
        try await router.set("dark", for: Self.key())
        #expect(try await router.get(Self.key()) == "dark")
        store.fail(with: .busy, calls: [.get, .exists], times: 5)
        #expect(try await router.get(Self.key()) == "dark")
        store.fail(with: .busy, calls: [.exists], times: 5)
        #expect(try await router.exists(Self.key()))
        store.fail(with: .busy, calls: [.set], times: 1)
        await #expect(throws: StorageError.busy) { try await router.set("light", for: Self.key()) }
        let inMemory = FailingStore(InMemoryStore())
        let other = try await StorageRouter.serving(inMemory)
        try await other.set("dark", for: Self.key())
        inMemory.fail(with: .busy, calls: [.get], times: 1)
        await #expect(throws: StorageError.busy) { try await other.get(Self.key()) }
    }

    @Test("a torn store leaves half of a value, with an error or without")
    func tornStore() async throws {
        let store = TornStore(InMemoryStore())
        let router = try await StorageRouter.serving(store)
        let key = AnyStorageKey(Self.key())
        store.tear()
        await #expect(throws: StorageError.fileError) { try await router.setData(Data("12345678".utf8), for: key) }
        #expect(try await router.data(for: key) == Data("1234".utf8))
        store.tear(error: nil)
        try await router.setData(Data("abcdefgh".utf8), for: key)
        #expect(try await router.data(for: key) == Data("abcd".utf8))
        try await router.setData(Data("abcdefgh".utf8), for: key)
        #expect(try await router.data(for: key) == Data("abcdefgh".utf8))
    }

    @Test("a delaying store delays calls for at least the given time, and only the requested calls")
    func delayingStore() async throws {
        let store = DelayingStore(InMemoryStore(), by: .milliseconds(30), calls: [.set], declaring: .network)
        #expect(store.properties.latency == .network)
        let router = try await StorageRouter.serving(store)
        let clock = ContinuousClock()
        let time = try await clock.measure { try await router.set("dark", for: Self.key()) }
        #expect(time >= .milliseconds(30))
        #expect(try await router.get(Self.key()) == "dark")
    }

    @Test("fault-injecting wrappers keep every promise while they inject nothing")
    func wrappersConform() async throws {
        for report in [
            try await StorageConformance.run(FailingStore<CorrectStore>.self),
            try await StorageConformance.run(DelayingStore<CorrectStore>.self),
            try await StorageConformance.run(TornStore<CorrectStore>.self),
        ] { #expect(report.failures.isEmpty, "\(report)") }
    }

    @Test("a failing store fails the kit: its checks really call the store")
    func failuresShow() async throws {
        #expect(try await StorageConformance.run(AlwaysFailing.self, only: ["value.empty"]).failures.count == 1)
    }

    private final class AlwaysFailing: CorrectStore, @unchecked Sendable {
        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            throw StorageError(.noSpace, "'\(key)': no space")
        }
    }
}
