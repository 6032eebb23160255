import LocalDataAPI
import Synchronization
import Testing

@testable import LocalDataHost

@Suite("migrations that continue other migrations", .timeLimit(.minutes(3))) struct MigrationChainTests {
    private let old: StorageKey<String> = MigrationHome.key("old", .custom(name: "before"))

    private var between: StorageKey<String> {
        MigrationHome.key("between", .custom(name: "after")) { [old] in
            AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(old)))
        }
    }

    private func new(after dependencies: [String]) -> StorageKey<String> {
        MigrationHome.key("new", .custom(name: "after")) { [between] in
            AnyStorageMigration(
                DefaultTransformingMigration(destinationKey: $0, sourceKey: between, dependencies: dependencies) {
                    "\($0), and more"
                })
        }
    }

    @Test(
        "the later one removes nothing before the earlier one has, which would otherwise bring its data again",
        arguments: [true, false])
    func pending(isDeclared: Bool) async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let store = StoppingStore(options: ComponentOptions(), host: HostServices(name: "tests", version: "0"))
        let router = StorageRouter(
            configuration: try fixture.configuration("domains: { before: \"stopping\", after: \"full\" }"))
        try await router.registerPlugin(
            named: "chain",
            Plugin.export(
                "chain \(isDeclared)", version: "0", .storage(StoppingStore.self) { _, _ in store },
                .storage(FullStore.self)))
        let first = try #require(between.migration)
        let new = new(after: isDeclared ? [first.id] : [])
        try await router.registerMigration(first)
        try await router.set("data", for: old)
        store.stop(after: 0)
        #expect(try await router.forceMigration(for: between).outcome == .cleanupPending)
        for _ in 1...2 {
            #expect(try await router.forceMigration(for: new).outcome == .cleanupPending)
            #expect(try await router.get(new) == "data, and more")
            #expect(try await router.exists(between))
        }
        store.goOn()
        if !isDeclared { #expect(try await router.forceMigration(for: between).outcome == .cleaned) }
        #expect(try await router.forceMigration(for: new).outcome == .cleaned)
        for key in [old, between] { #expect(try await !router.exists(key), "\(key.name)") }
        for key in [between, new] {
            #expect(try await router.migrationHistory(for: key).map(\.state) == [.clean])
            #expect(try await router.forceMigration(for: key).outcome == .nothingToDo)
        }
        #expect(try await router.get(new) == "data, and more")
    }
}
