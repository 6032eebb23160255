import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite("Conditional changes of keys") struct ConditionalKeyTests {
    private static let domains = MigrationHome.domains

    @Test("a value is created once; the second time is a conflict, and the first value stays", arguments: domains)
    func create(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let key: StorageKey<String> = MigrationHome.key("name", domain)
        let router = try home.router()
        let revision = try await router.create("first", for: key)
        let error = await #expect(throws: StorageError.self) {
            try await home.router().create("second", for: MigrationHome.key("name", domain))
        }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("name") ?? false)
        #expect(try await router.get(key) == "first")
        #expect(try await router.revision(of: key) == revision)
        try await router.remove(key)
        #expect(try await router.create("third", for: key) != revision)
    }

    @Test("a value is replaced and removed only with its revision", arguments: domains)
    func revisions(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let key: StorageKey<String> = MigrationHome.key("name", domain)
        let router = try home.router()
        #expect(try await router.revisioned(key) == nil)
        try await router.set("first", for: key)
        let first = try #require(try await router.revisioned(key))
        #expect(first.value == "first")
        let second = try await router.set("second", for: key, ifRevision: first.revision)
        for stale in [first.revision, StorageRevision(1)] {
            await #expect(throws: StorageError.conflict) {
                try await router.set("third", for: key, ifRevision: stale)
            }
            await #expect(throws: StorageError.conflict) { try await router.remove(key, ifRevision: stale) }
        }
        #expect(try await router.get(key) == "second")
        try await router.remove(key, ifRevision: second)
        await #expect(throws: StorageError.notFound) { try await router.get(key) }
        await #expect(throws: StorageError.conflict) { try await router.set("late", for: key, ifRevision: second) }
    }

    @Test("concurrent updates are exact, and may create and remove the value", arguments: domains)
    func update(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let key: StorageKey<Int> = MigrationHome.key("count", domain)
        let routers = [try home.router(), try home.router()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<6 {
                group.addTask {
                    for _ in 0..<10 { try await routers[number % 2].update(key) { $0 = ($0 ?? 0) + 1 } }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await routers[0].get(key) == 60)
        #expect(try await routers[0].update(key) { $0 = nil } == nil)
        #expect(try await !routers[1].exists(key))
        #expect(try await routers[0].update(key) { _ in } == nil)
        await #expect(throws: CancellationError.self) {
            try await routers[0].update(key) { _ in throw CancellationError() }
        }
    }

    /// With `LOCALDATA_TORTURE=1`, 10,000 by each thread.
    @Test("16 threads count to the exact sum in memory")
    func counting() async throws {
        let router = StorageRouter(
            configuration: try HostConfiguration(
                text: "{ domains: { userDefaults: \"memory\" }, log: { level: \"off\" } }"))
        let times = TestRun.isTorture ? 10_000 : 200
        let key: StorageKey<Int> = MigrationHome.key("count", .userDefaults())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask(executorPreference: IOExecutor.shared) {
                    for _ in 0..<times { try await router.update(key) { $0 = ($0 ?? 0) + 1 } }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await router.get(key) == 16 * times)
    }

    @Test("older data is migrated first: create does not hide it, and a removal does not revive it", arguments: domains)
    func pending(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let old: StorageKey<String> = MigrationHome.key("old", .fileSystem())
        func key() -> StorageKey<String> {
            MigrationHome.key("new", domain) { key in
                AnyStorageMigration(SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old)))
            }
        }
        try await home.router().set("older", for: old)
        await #expect(throws: StorageError.conflict) { try await home.router().create("newer", for: key()) }
        let router = try home.router()
        let found = try #require(try await router.revisioned(key()))
        #expect(found.value == "older")
        try await router.remove(key(), ifRevision: found.revision)
        await #expect(throws: StorageError.notFound) { try await home.router().get(key()) }
    }

    @Test("a value of an earlier version is updated in the current one", arguments: domains)
    func chained(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        try await home.router().set(Note.V1(text: "hello"), for: Note.old(Note.V1.self, "note", domain))
        let router = try home.router()
        let key = try Note.key("note", domain)
        let found = try #require(try await router.revisioned(key))
        #expect(found.value == Note.V3(title: "hello", tags: []))
        try await router.set(Note.V3(title: "bye", tags: []), for: key, ifRevision: found.revision)
        #expect(try await router.attributes(of: AnyStorageKey(key))?.versionTag == "3")
        #expect(try await home.router().get(Note.key("note", domain)).title == "bye")
    }

    @Test("only 16 hexadecimal digits are a revision")
    func text() throws {
        let revision = StorageRevision(0xab)
        #expect("\(revision)" == "00000000000000ab")
        #expect(StorageRevision("00000000000000ab") == revision)
        for text in ["", "ab", "0000000000000000", "+0000000000000ab", "00000000000000ag", "00000000000000abc"] {
            #expect(StorageRevision(text) == nil, "\(text)")
        }
    }

    @Test("a store without conditional changes says so, and keeps what it has")
    func unsupported() async throws {
        let router = StorageRouter(
            configuration: try HostConfiguration(
                text: "{ domains: { userDefaults: \"faulty\" }, log: { level: \"off\" } }"))
        try await router.registerPlugin(
            named: "Faulty", Plugin.export("Faulty", version: "1.0.0", .storage(FaultyStore.self)))
        let key = StorageKey<String>(
            name: "name", domain: .userDefaults(), security: .none, owner: "tests", description: "a test key")
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await router.create("x", for: key) }, { _ = try await router.revisioned(key) },
            { _ = try await router.update(key) { $0 = "x" } },
            { try await router.set("x", for: key, expires: .now + 60) },
        ]
        for call in calls {
            let error = await #expect(throws: StorageError.self) { try await call() }
            #expect(error?.code == .unsupported)
            #expect(error?.hint == "map the domain to a store that does")
        }
    }
}
