import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostMigration
@testable import HostStores
@testable import LocalDataHost

@Suite("the ledgers of all stores", .timeLimit(.minutes(3))) struct LedgerSurveyTests {
    private static let stores: [StorageDomain] = MigrationHome.domains

    private static func old(_ name: String) -> StorageKey<String> { MigrationHome.key("old \(name)", .fileSystem()) }

    private static func new(_ name: String, _ domain: StorageDomain) -> StorageKey<String> {
        MigrationHome.key("new \(name)", domain)
    }

    private static func move(_ name: String, to domain: StorageDomain) -> AnyStorageMigration {
        AnyStorageMigration(
            SimpleLegacyMigration(destinationKey: new(name, domain), sourceKey: .key(old(name))))
    }

    /// Moves one value of each name to another store.
    private func migrated(_ home: MigrationHome) async throws -> StorageRouter {
        let router = try home.router(version: "1.0")
        for (index, domain) in Self.stores.enumerated() {
            try await router.set("data \(index)", for: Self.old("\(index)"))
            try await router.registerMigration(Self.move("\(index)", to: domain))
        }
        #expect(try await router.migrate().entries.map(\.outcome) == Array(repeating: .migrated, count: 4))
        return router
    }

    @Test("every row of every store is found, in the order of the runs, also without the migration")
    func history() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        _ = try await migrated(home)
        let stranger = try home.router()
        let history = try await stranger.migrations.history()
        let (records, failures) = (history.records, history.failures)
        #expect(failures.isEmpty)
        #expect(records.map(\.sources) == (0..<4).map { ["fileSystem:documents/old \($0)"] })
        #expect(records.map(\.state) == Array(repeating: .clean, count: 4))
        #expect(records.allSatisfy { $0.appVersion == "1.0" })
    }

    @Test("a key whose name is too long for the ledger's is found by the content of its page")
    func longName() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        for name in [String(repeating: "\u{1F469}\u{200D}\u{1F469}", count: 90), String(repeating: "x", count: 950)] {
            let key: StorageKey<String> = MigrationHome.key(name, .custom(name: "rows"))
            try await router.set("data", for: Self.old("long"))
            try await router.registerMigration(
                SimpleLegacyMigration(destinationKey: key, sourceKey: .key(Self.old("long"))))
            #expect(try await router.migrate().failures.isEmpty)
            let found = try await home.router().migrations.history()
            #expect(found.failures.isEmpty)
            #expect(found.records.contains { $0.destinations == ["rows/\(name)"] })
        }
    }

    @Test("the status lists every migration, even unknown ones")
    func status() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try await migrated(home)
        try await router.registerMigration(Self.move("more", to: .fileSystem()))
        try await router.migrations.rollback("rows/new 1 from fileSystem:documents/old 1")
        let overview = try await router.migrations.status()
        let (known, failures) = (overview.migrations, overview.failures)
        #expect(failures.isEmpty)
        #expect(known.map(\.state) == [.done, .rolledBack, .done, .done, .notRun])
        #expect(known.map(\.revision) == [1, 1, 1, 1, 1])
        #expect(known.map { $0.keptUntil != nil } == [true, false, true, true, false])
        #expect(!known.contains { $0.needsAttention })
        let strange = try await home.router().migrations.status().migrations
        #expect(strange.map(\.state) == [.done, .rolledBack, .done, .done])
        #expect(strange.map(\.revision) == [nil, nil, nil, nil])
        // What was moved to a better protected store is still in plain in the former one, for a rollback.
        #expect(strange.map(\.needsAttention) == [false, false, true, true])
    }

    @Test("a migration is rolled back or confirmed by its id, even where it is not registered")
    func byID() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        _ = try await migrated(home)
        let router = try home.router()
        let ids = try await router.migrations.history().records.map(\.id)
        try await router.migrations.confirm(ids[0])
        await #expect(throws: MigrationError.validationFailed) { try await router.migrations.rollback(ids[0]) }
        for (index, id) in ids.enumerated().dropFirst() {
            try await router.migrations.rollback(id, of: "\(Self.stores[index])/new \(index)")
            #expect(try await router.get(Self.old("\(index)")) == "data \(index)")
        }
        let error = await MigrationError.of { try await router.migrations.rollback("\(ids[0])x") }
        #expect(error?.message.contains("did you mean one of '\(ids[0])'") == true)
        await #expect(throws: MigrationError.validationFailed) {
            try await router.migrations.rollback(ids[1], of: "fileSystem/elsewhere")
        }
    }

    @Test("an id that several destinations have is not guessed")
    func ambiguous() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        for name in ["1", "2"] {
            let router = try home.router()
            let key = Self.new(name, .fileSystem())
            var migration = ScriptedMigration(destinationKey: key) { router, _ in
                try await router.set("data", for: key)
                return MigrationResult(success: true)
            }
            migration.id = "shared"
            try await router.registerMigration(migration)
            #expect(try await router.migrate().failures.isEmpty)
        }
        let router = try home.router()
        let error = await MigrationError.of { try await router.migrations.rollback("shared") }
        #expect(error?.message.contains("new 1") == true && error?.message.contains("new 2") == true)
        try await router.migrations.rollback("shared", of: "fileSystem/new 2")
        #expect(try await router.exists(Self.new("1", .fileSystem())))
        #expect(try await !router.exists(Self.new("2", .fileSystem())))
    }

    @Test("an interrupted migration is completed, even without its code")
    func resume() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try await migrated(home)
        let ids = try await router.migrations.history().records.map(\.id)
        // As if the first migration had been stopped before its removals, and the last value had not read back.
        for (index, state) in [(0, MigrationRecord.State.published), (3, .unverified)] {
            let resolved = try await router.resolve(KeyReference(Self.new("\(index)", Self.stores[index])))
            let ledger = try Ledger(try await router.access(), of: resolved)
            var page = try await ledger.page()
            page[ids[index]]?.state = state
            try await ledger.commit(page)
        }
        try await router.set("data 0", for: Self.old("0"))
        try await router.interruptBatch(
            of: [Self.old("a"), Self.new("b", .custom(name: "rows"))], to: Data("\"new\"".utf8))

        let diagnosed = await Diagnosis.run { try home.router() }.filter(\.isProblem).map(\.text)
        #expect(diagnosed.contains { $0.contains(ids[0]) && $0.contains("still there") })
        #expect(diagnosed.contains { $0.contains(ids[3]) && $0.contains("did not read back") })
        try await router.interruptBatch(
            of: [Self.old("a"), Self.new("b", .custom(name: "rows"))], to: Data("\"new\"".utf8))
        let resumption = try await home.router().migrations.resume()
        #expect(resumption.batches.count == 1 && resumption.waiting.isEmpty && resumption.failures.isEmpty)
        #expect(resumption.entries.map(\.migration) == [ids[0], ids[3]])
        #expect(resumption.entries.map(\.isDone) == [true, false])
        #expect(try await !router.exists(Self.old("0")))
        #expect(try await router.get(Self.old("a")) == "new")
        let again = try await home.router().migrations.resume()
        #expect(again.batches.isEmpty && again.entries.map(\.migration) == [ids[3]])
    }
}
