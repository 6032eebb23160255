import LocalDataAPI
import LocalDataHost
import LocalDataTesting
import Testing

extension StorageKey where Value == Int {
    static let visits = StorageKey(
        name: "visits", domain: .userDefaults(), security: .none, owner: "Guide", description: "How often.")
}

extension StorageKey where Value == String {
    static let leader = StorageKey(
        name: "leader", domain: .userDefaults(), security: .none, owner: "Guide", description: "Who leads.")
    static let title = StorageKey(
        name: "title", domain: .userDefaults(), security: .none, owner: "Guide", description: "A title.")
}

@Suite("The samples of conditional changes") struct ConditionSampleTests {
    @Test("count, elect one leader, and rename")
    func run() async throws {
        let router = try await StorageRouter.inMemory()
        #expect(try await visit(router) == 1)
        #expect(try await visit(router) == 2)
        #expect(try await claim("one", router))
        #expect(try await !claim("two", router))
        try await rename(router)
        try await router.set("title", for: .title)
        try await rename(router)
        #expect(try await router.get(.title) == "TITLE")
    }
}
