import FoundationEssentials
import LocalDataAPI
import Synchronization
import Testing

@testable import HostPlugins
@testable import LocalDataHost

@Suite("interrupted migrations", .timeLimit(.minutes(3))) struct MigrationInterruptionTests {
    /// A counter, since each name can export only one table.
    private static let names = Atomic<Int>(0)

    private let source: StorageKey<String> = MigrationHome.key("old", .custom(name: "before"))
    private let other: StorageKey<String> = MigrationHome.key("other", .custom(name: "before"))

    /// Joins both old values to one, which may replace a value.
    private var key: StorageKey<String> {
        MigrationHome.key("new", .custom(name: "after")) { [source, other] in
            AnyStorageMigration(
                DefaultAggregatingMigration(
                    destinationKey: $0, sourceKeys: [.key(source), .key(other)], conflictPolicy: .takeSource
                ) { $0.compactMap { $0.value as? String }.joined(separator: "+") })
        }
    }

    private func router(_ fixture: FixtureBuilder, _ store: StoppingStore) async throws -> StorageRouter {
        let router = StorageRouter(
            configuration: try fixture.configuration("domains: { before: \"stopping\", after: \"stopping\" }"))
        let name = "stopping \(Self.names.wrappingAdd(1, ordering: .relaxed).newValue)"
        try await router.registerPlugin(
            named: name, Plugin.export(name, version: "0", .storage(StoppingStore.self) { _, _ in store }))
        return router
    }

    private func open() -> StoppingStore {
        StoppingStore(options: ComponentOptions(), host: HostServices(name: "tests", version: "0"))
    }

    @Test(
        "seed defect 8: stopped at every change, no data is lost, and the next run ends like an uninterrupted one",
        arguments: [nil, "replaced"])
    func everyChange(_ replaced: String?) async throws {
        var isStopped = true
        var count = 0
        while isStopped {
            let fixture = try FixtureBuilder()
            defer { fixture.remove() }
            let store = open()
            let router = try await router(fixture, store)
            if let replaced { try await router.set(replaced, for: key) }
            try await router.set("a", for: source)
            try await router.set("b", for: other)
            store.stop(after: count)
            var error: MigrationError?
            do {
                isStopped = try await router.forceMigration(for: key).outcome == .cleanupPending
            } catch let failure as MigrationError {
                error = failure
            }
            store.goOn()
            if let error {
                #expect(error.code == .storageFailed, "\(count): \(error)")
                #expect(try await router.get(source) == "a", "\(count)")
                #expect(try await router.get(other) == "b", "\(count)")
            } else {
                #expect(try await router.get(key) == "a+b", "\(count)")
            }
            if error?.underlying?.code == .fileError {
                #expect(try await router.exists(key) == (replaced != nil), "\(count)")
                #expect(try await router.migrationHistory(for: key).isEmpty, "\(count)")
            }
            // Another process resumes.
            let next = try await self.router(fixture, store)
            try await next.forceMigration(for: key)
            #expect(try await next.get(key) == "a+b", "\(count)")
            #expect(try await !next.exists(source), "\(count)")
            #expect(try await !next.exists(other), "\(count)")
            #expect(try await next.migrationHistory(for: key).map(\.state) == [.clean], "\(count)")
            #expect(try await next.forceMigration(for: key).outcome == .nothingToDo, "\(count)")
            // Only the ledger's page and the images are left, and nothing of the batches.
            #expect(store.count(in: "localdata.migrations") == (replaced == nil ? 3 : 4), "\(count)")
            #expect(store.count(in: "localdata.batch") == 0, "\(count)")
            try await next.migrations.rollback(of: key)
            #expect(try await next.get(source) == "a", "\(count)")
            #expect(try await next.get(other) == "b", "\(count)")
            #expect(store.count(in: "localdata.migrations") == 1, "\(count)")
            count += 1
        }
        #expect(count > 20, "stopped at \(count) changes")
    }

    @Test("seed defect 8: nothing is removed if a value does not read back as written")
    func unverified() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let store = open()
        let router = try await router(fixture, store)
        try await router.set("a", for: source)
        store.alter("new")
        let error = await MigrationError.of { try await router.forceMigration(for: key) }
        #expect(error?.code == .validationFailed && error?.message.contains("read back") == true)
        #expect(try await router.get(source) == "a")
        #expect(try await router.migrationHistory(for: key).map(\.state) == [.unverified])
    }
}
