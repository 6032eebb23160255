import FoundationEssentials
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

@testable import HostMigration
@testable import HostStores
@testable import LocalDataHost

@Suite("upgrades of a value with versions that are interrupted", .timeLimit(.minutes(3))) struct InterruptedUpgradeTests
{
    private static let names = Atomic<Int>(0)

    private func router(_ fixture: FixtureBuilder, _ store: StoppingStore) async throws -> StorageRouter {
        let router = StorageRouter(
            configuration: try fixture.configuration("domains: { rows: \"stopping\" }"), log: SilentLog())
        let name = "stopped upgrade \(Self.names.wrappingAdd(1, ordering: .relaxed).newValue)"
        try await router.registerPlugin(
            named: name, Plugin.export(name, version: "0", .storage(StoppingStore.self) { _, _ in store }))
        return router
    }

    @Test("stopped at every change, an upgrade leaves nothing that no later read finishes")
    func everyChange() async throws {
        let domain = StorageDomain.custom(name: "rows")
        var count = 0
        while true {
            let fixture = try FixtureBuilder()
            defer { fixture.remove() }
            let store = StoppingStore(options: ComponentOptions(), host: HostServices(name: "tests", version: "0"))
            let router = try await router(fixture, store)
            try await router.set(Note.V1(text: "hello"), for: Note.old(Note.V1.self, "note", domain))
            let key = try Note.key("note", domain)
            store.stop(after: count)
            let isDone = (try? await router.get(key)) != nil && store.isGoingOn
            store.goOn()
            // Another process reads, and then somebody looks.
            let next = try await self.router(fixture, store)
            #expect(try await next.get(key) == Note.V3(title: "hello", tags: []), "\(count)")
            #expect(try await next.attributes(of: AnyStorageKey(key))?.versionTag == "3", "\(count)")
            let overview = try await self.router(fixture, store).migrations.status()
            #expect(overview.migrations.map(\.state) == [.done], "\(count)")
            #expect(overview.migrations.allSatisfy { !$0.needsAttention && $0.problem == nil }, "\(count)")
            if isDone { break }
            count += 1
        }
        #expect(count > 2, "stopped at \(count) changes")
    }

    @Test("a program that does not know what an app has done itself finds nothing to do, and says what is unfinished")
    func ownOfApp() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let domain = StorageDomain.encryptedFileSystem()
        try await home.router().set(Note.V1(text: "hello"), for: Note.old(Note.V1.self, "note", domain))
        let key = try Note.key("note", domain)
        let router = try home.router()
        _ = try await router.get(key)
        var found = try await home.router().migrations.status().migrations
        #expect(found.map(\.state) == [.done] && !found.contains(where: \.needsAttention))
        #expect(found.first?.keptUntil != nil && found.first?.problem == nil)

        // As if it had been killed before it read the value back.
        let ledger = try Ledger(try await router.access(), of: try await router.resolve(KeyReference(key)))
        var page = try await ledger.page()
        let id = try #require(page.rows.first?.id)
        page[id]?.state = .published
        try await ledger.commit(page)
        found = try await home.router().migrations.status().migrations
        #expect(found.filter(\.needsAttention).count == 1)
        let texts = await Diagnosis.run { try home.router() }.map(\.text).filter { $0.contains(id) }
        #expect(texts.count == 1 && texts.first?.contains("it has not been read back yet") == true, "\(texts)")
        #expect(try await home.router().migrations.resume().entries.map(\.isDone) == [true])
        #expect(try await !home.router().migrations.status().migrations.contains(where: \.needsAttention))
    }
}
