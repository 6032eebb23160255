import LocalDataAPI
import LocalDataHost
import LocalDataTesting
import Testing

@Suite("The samples of the guide to the kit")
struct KitSamples {
    @Test("the store keeps its promises")
    func conforms() async throws {
        let report = try await StorageConformance.run(InMemoryStore.self)
        #expect(report.failures.isEmpty, "\(report)")
    }

    @Test("an app meets a store that fails, and recovers")
    func failingStore() async throws {
        let store = FailingStore(InMemoryStore())
        let router = try await StorageRouter.serving(store)
        try await router.set("dark", for: .theme)
        store.fail(with: StorageError(.noSpace, "the disk is full"), calls: [.set])
        await #expect(throws: StorageError.noSpace) { try await router.set("light", for: .theme) }
        store.recover()
        #expect(try await router.get(.theme) == "dark")
    }
}
