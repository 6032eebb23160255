import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite("the choice of a key's store") struct RoutingTests {
    let fixture: FixtureBuilder

    init() throws { fixture = try FixtureBuilder() }

    @Test("the configuration's text decides, and the router can give the reason")
    func byConfiguration() async throws {
        defer { fixture.remove() }
        let path = try await fixture.build()
        let router = StorageRouter(
            configuration: try fixture.configuration("domains: { userDefaults: \"fixture\", own: \"memory\" }"))
        let key = textKey("k")
        let own = textKey("k", .custom(name: "own"))
        try await router.set("in C", for: key)
        try await router.set("in Swift", for: own)
        #expect(try await router.get(key) == "in C")
        #expect(try await router.get(own) == "in Swift")
        let route = try #require(try await router.stores.route(of: "userDefaults"))
        #expect(route.store == "fixture" && route.component == "fixture" && route.plugin == path)
        #expect(route.origin != nil)
        #expect("\(route)".hasPrefix("'fixture' of \(path) serves userDefaults: named in "))
        #expect(try await router.stores.route(of: "own")?.plugin.hasSuffix("libMemoryStore.so") == true)
    }

    @Test("a domain without a store is an error that lists the domains with one")
    func unmapped() async throws {
        defer { fixture.remove() }
        let router = try StorageRouter.inMemory(fixture)
        let error = try await #require(throws: StorageError.self) {
            try await router.get(textKey("k", .custom(name: "nowhere")))
        }
        #expect(error.code == .invalidConfiguration)
        #expect(error.message.contains("'nowhere'") && error.message.contains("userDefaults"))
        #expect(error.hint.contains("config set domains.nowhere"))
    }

    @Test("a component that no plugin offers fails the calls of its domain only")
    func missingComponent() async throws {
        defer { fixture.remove() }
        let router = StorageRouter(
            configuration: try fixture.configuration("domains: { userDefaults: \"absent\", own: \"memory\" }"))
        await #expect(throws: StorageError.componentNotFound) { try await router.set("x", for: textKey("k")) }
        try await router.set("x", for: textKey("k", .custom(name: "own")))
    }

    @Test(
        "a key is resolved once, again after a change of configuration, and finds its old store when it returns to it")
    func resolutionIsCached() async throws {
        defer { fixture.remove() }
        _ = try await fixture.build()
        let router = try StorageRouter.inMemory(fixture)
        let key = textKey("k")
        #expect(router.known(key.slot)?.takeUnretainedValue() == nil)
        try await router.set("memory", for: key)
        let first = try #require(router.known(key.slot)?.takeUnretainedValue())
        #expect(try await router.get(key) == "memory")
        #expect(router.known(key.slot)?.takeUnretainedValue() === first)

        try await router.configure("domains.userDefaults", "fixture")
        #expect(router.known(key.slot)?.takeUnretainedValue() == nil)
        await #expect(throws: StorageError.notFound) { try await router.get(key) }
        try await router.set("fixture", for: key)
        let second = try #require(router.known(key.slot)?.takeUnretainedValue())
        #expect(second !== first && second.open.component == "fixture")

        try await router.configure("domains.userDefaults", "memory")
        #expect(try await router.get(key) == "memory")
        #expect(router.known(key.slot)?.takeUnretainedValue().store === first.store)
    }

    @Test("a change of configuration that is not valid changes nothing")
    func invalidChange() async throws {
        defer { fixture.remove() }
        let router = try StorageRouter.inMemory(fixture)
        let key = textKey("k")
        try await router.set("kept", for: key)
        for (path, value) in [
            ("domains.userDefaults", 7), ("domains.userDefault", "memory"), ("nonsense", true), ("device.role", "tv"),
        ] as [(String, AnyCodable)] {
            await #expect(throws: StorageError.invalidConfiguration) { try await router.configure(path, value) }
        }
        #expect(try await router.get(key) == "kept")
    }

    @Test("two routers keep one key's values apart, however their calls alternate")
    func twoRouters() async throws {
        defer { fixture.remove() }
        let first = try StorageRouter.inMemory(fixture)
        let second = try StorageRouter.inMemory(fixture)
        let key = textKey("k")
        for round in 0..<50 {
            try await first.set("first \(round)", for: key)
            try await second.set("second \(round)", for: key)
            #expect(try await first.get(key) == "first \(round)")
            #expect(try await second.get(key) == "second \(round)")
        }
        try await first.remove(key)
        #expect(try await !first.exists(key))
        #expect(try await second.exists(key))
    }

    @Test("a router at the address of a deallocated one does not inherit its keys' resolutions")
    func routersComeAndGo() async throws {
        defer { fixture.remove() }
        let key = textKey("k")
        // Keys outlive routers, and cache resolutions by the identity of a snapshot, which must be unique.
        var identities: Set<UInt> = []
        for round in 0..<20 {
            let router = try StorageRouter.inMemory(fixture)
            #expect(try await !router.exists(key), "round \(round) reads another router's store")
            try await router.set("\(round)", for: key)
            #expect(identities.insert(try await router.snapshot().id).inserted)
        }
    }

    @Test("identifiers that are set before the first use count for it, and for later ones until they change")
    func storageConfiguration() async throws {
        defer { fixture.remove() }
        let router = try StorageRouter.inMemory(fixture)
        await router.updateStorageConfiguration(StorageConfiguration(defaultAppGroupIdentifier: "group.one"))
        let key = textKey("k", .appGroupUserDefaults())
        try await router.set("one", for: key)
        #expect(try await router.get(textKey("k", .appGroupUserDefaults(identifier: "group.one"))) == "one")
        await router.updateStorageConfiguration(StorageConfiguration(defaultAppGroupIdentifier: "group.two"))
        #expect(try await !router.exists(key))
        await router.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: "mine"))
        try await router.set("file", for: textKey("f", .fileSystem()))
        #expect(try await router.configuration().settings().subDirectory == "mine")
        #expect(try await router.populatedDomains().domains.contains(.appGroupUserDefaults(identifier: "group.one")))
    }

    @Test("a store that must be sealed is not opened in plain")
    func sealed() async throws {
        defer { fixture.remove() }
        let router = StorageRouter(
            configuration: try fixture.configuration(
                "domains: { userDefaults: \"vault\" }, stores: { vault: { component: \"memory\", "
                    + "sealing: { source: \"provider\", name: \"absent\" } } }"))
        let error = try await #require(throws: StorageError.self) { try await router.set("x", for: textKey("k")) }
        #expect(error.code == .securityApplicationFailed && error.message.contains("'vault'"))
        #expect(try await !router.exists(textKey("k")))
    }
}
