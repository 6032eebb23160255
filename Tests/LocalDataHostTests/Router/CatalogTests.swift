import LocalDataAPI
import Testing

@testable import LocalDataHost

@Suite("registered catalogs") struct CatalogTests {
    private struct Catalog: StorageKeyCatalog {
        let name: String
        let allKeys: [AnyStorageKey]

        init(_ name: String, _ keys: StorageKey<String>...) {
            self.name = name
            allKeys = keys.map { AnyStorageKey($0) }
        }
    }

    private struct Nameless: StorageKeyCatalog { let allKeys: [AnyStorageKey] = [.key(textKey("nameless"))] }

    let fixture: FixtureBuilder
    let router: StorageRouter

    init() throws {
        fixture = try FixtureBuilder()
        router = try StorageRouter.inMemory(fixture)
    }

    @Test("without a catalog every key is used; with one, only those that it lists")
    func enforced() async throws {
        defer { fixture.remove() }
        try await router.set("x", for: textKey("free"))
        try await router.registerCatalog(Catalog("App", textKey("listed")))
        try await router.set("x", for: textKey("listed"))
        // Keys are compared by address, not by object; the scope is part of the address.
        for key in [
            textKey("free"), textKey("listed", .userDefaults(suite: "other")), textKey("listed", .custom(name: "own")),
        ] {
            let error = try await #require(throws: StorageError.self) { try await router.get(key) }
            #expect(error.code == .unregisteredKey && error.message.contains("App") && !error.hint.isEmpty)
        }
    }

    @Test("a key that was in use before the catalog was registered is checked again")
    func enforcedLater() async throws {
        defer { fixture.remove() }
        let key = textKey("free")
        try await router.set("x", for: key)
        try await router.registerCatalog(Catalog("App", textKey("listed")))
        await #expect(throws: StorageError.unregisteredKey) { try await router.get(key) }
    }

    @Test("several catalogs are combined, and named in the refusal")
    func additive() async throws {
        defer { fixture.remove() }
        try await router.registerCatalog(Catalog("App", textKey("a")))
        try await router.registerCatalog(Catalog("Module", textKey("b")))
        try await router.registerCatalog(Nameless())
        for name in ["a", "b", "nameless"] { try await router.set("x", for: textKey(name)) }
        let error = try await #require(throws: StorageError.self) { try await router.get(textKey("c")) }
        #expect(error.message.contains("App, Module, Nameless"))
    }

    @Test("a key that is registered twice is refused with its address, and its catalog is not registered at all")
    func duplicates() async throws {
        defer { fixture.remove() }
        let twice = try await #require(throws: StorageError.self) {
            try await router.registerCatalog(Catalog("Twice", textKey("a"), textKey("b"), textKey("a")))
        }
        #expect(twice.code == .duplicateRegisteredKeys)
        #expect(twice.message.contains("'Twice'") && twice.message.contains("'userDefaults/a'"))
        #expect(!twice.message.contains("userDefaults/b"))
        try await router.set("x", for: textKey("free"))

        try await router.registerCatalog(Catalog("App", textKey("a")))
        let again = try await #require(throws: StorageError.self) {
            try await router.registerCatalog(Catalog("Module", textKey("new"), textKey("a")))
        }
        #expect(again.code == .duplicateRegisteredKeys)
        await #expect(throws: StorageError.unregisteredKey) { try await router.get(textKey("new")) }
        // Another scope or another spelling of a letter is another key.
        try await router.registerCatalog(
            Catalog("Other", textKey("a", .userDefaults(suite: "s")), textKey("é"), textKey("e\u{301}")))
    }

    @Test("a key without a description is refused by name", arguments: ["", " \t\n"])
    func undescribed(_ description: String) async throws {
        defer { fixture.remove() }
        let error = try await #require(throws: StorageError.self) {
            try await router.registerCatalog(
                Catalog("App", textKey("good"), textKey("bare", description: description)))
        }
        #expect(error.code == .missingDescription)
        #expect(
            error.message.contains("'App'") && error.message.contains("'bare'") && !error.message.contains("'good'"))
        try await router.set("x", for: textKey("free"))
    }
}
