import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostMigration
@testable import HostPlugins
@testable import HostStores
@testable import LocalDataHost

@Suite("plans of migrations", .timeLimit(.minutes(3))) struct MigrationPlanTests {
    private static let file = StorageDomain.fileSystem()
    private static let rows = StorageDomain.custom(name: "rows")

    private static func key(_ name: String, _ domain: StorageDomain = file) -> StorageKey<String> {
        MigrationHome.key(name, domain)
    }

    private static func move(
        _ from: StorageKey<String>, to: StorageKey<String>, after: [String] = [],
        _ policy: MigrationConflictPolicy = .keepDestination
    ) -> AnyStorageMigration {
        AnyStorageMigration(
            SimpleLegacyMigration(
                destinationKey: to, sourceKey: .key(from), dependencies: after, conflictPolicy: policy))
    }

    private static func scripted(
        _ id: String, _ key: StorageKey<String>, after: [String] = [],
        _ script: @escaping ScriptedMigration.Script
    ) -> AnyStorageMigration {
        var migration = ScriptedMigration(destinationKey: key, script: script)
        migration.id = id
        migration.dependencies = after
        return AnyStorageMigration(migration)
    }

    private static let keychain = StorageDomain.keychain(service: "tests")

    /// Migrations that lead to every decision; several of them read values that others write.
    private static var migrations: [AnyStorageMigration] {
        let first = move(key("a", rows), to: key("b"))
        return [
            // This one is registered before its dependency.
            move(key("b"), to: key("c", .encryptedFileSystem()), after: [first.id]),
            first,
            AnyStorageMigration(
                DefaultAggregatingMigration(
                    destinationKey: key("all", keychain),
                    sourceKeys: [.key(key("c", .encryptedFileSystem())), .key(key("part"))], conflictPolicy: .takeSource
                ) { $0.compactMap { $0.value as? String }.joined(separator: "+") }),
            move(key("kept source"), to: key("kept")),
            move(key("refused source"), to: key("refused"), .fail),
            move(key("nowhere"), to: key("nothing")),
            move(key("replacing"), to: key("replaced", rows), .takeSource),
            scripted("failing", key("failing")) { router, _ in
                try await router.set("half done", for: key("failing"))
                throw StorageError(.unknown, "it cannot be done")
            },
            scripted("dependant", key("dependant"), after: ["failing"]) { _, _ in MigrationResult(success: true) },
            scripted("second dependant", key("dependant 2"), after: ["dependant"]) { _, _ in
                MigrationResult(success: true)
            },
            scripted("lonely", key("lonely"), after: ["missing"]) { _, _ in MigrationResult(success: true) },
            scripted("same", key("same")) { router, _ in
                try await router.set("same", for: key("same"))
                return MigrationResult(success: true)
            },
        ]
    }

    private static func fill(_ router: StorageRouter) async throws {
        for (name, domain) in [
            ("a", rows), ("part", file), ("kept source", file), ("kept", file), ("refused source", file),
            ("refused", file), ("replacing", file), ("replaced", rows), ("all", keychain),
        ] {
            try await router.set("data of \(name)", for: key(name, domain))
        }
    }

    private func router(_ home: MigrationHome) async throws -> StorageRouter {
        let router = try home.router()
        for migration in Self.migrations { try await router.registerMigration(migration) }
        return router
    }

    /// All files, except empty ones and those that SQLite has while a database is open.
    static func everything(_ home: MigrationHome) -> [String: Data] {
        home.home.files().filter { !$0.key.hasSuffix("-shm") && !$0.key.hasSuffix("-wal") && !$0.value.isEmpty }
    }

    @Test("a plan changes nothing, and the run then follows it")
    func agreement() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        try await Self.fill(try home.router())
        let before = Self.everything(home)
        let plan = try await router(home).migrations.plan()
        #expect(try await router(home).migrations.plan() == plan)
        #expect(Self.everything(home) == before)
        #expect(plan.notes.isEmpty && plan.changesAnything)
        let decisions = Dictionary(uniqueKeysWithValues: plan.entries.map { ($0.destination, $0.decision) })
        #expect(
            decisions == [
                "fileSystem:documents/b": .run, "encryptedFileSystem:documents/c": .run,
                "keychain:tests/all": .run, "fileSystem:documents/kept": .destinationKept,
                "fileSystem:documents/refused": .refused, "fileSystem:documents/nothing": .nothingToDo,
                "rows/replaced": .run, "fileSystem:documents/failing": .refused,
                "fileSystem:documents/dependant": .refused, "fileSystem:documents/dependant 2": .refused,
                "fileSystem:documents/lonely": .refused, "fileSystem:documents/same": .run,
            ])
        let router = try await router(home)
        let report = try await router.migrate()
        #expect(report.entries.map(\.migration) == plan.entries.map(\.migration))
        for (entry, done) in zip(plan.entries, report.entries) {
            let expected: MigrationOutcome =
                switch entry.decision {
                case .run: .migrated
                case .cleanup: .cleaned
                case .nothingToDo: .nothingToDo
                case .destinationKept: .destinationKept
                case .skipped: .skipped(reason: entry.why)
                case .refused: .failed
                }
            #expect(done.outcome == expected, "\(entry.migration)")
            #expect(done.error?.message == (entry.decision == .refused ? entry.why : nil))
            #expect(done.error?.code.rawValue == entry.error)
        }
        try await Self.compare(plan, with: router)
        #expect(try await router.get(Self.key("all", Self.keychain)) == "data of a+data of part")
        #expect(report.failures.count == 5)
        let next = try await router.migrations.plan()
        #expect(!next.changesAnything)
        #expect(next.refusals.map(\.migration) == plan.refusals.map(\.migration))
    }

    /// Checks that the plan's last writes exist in the planned size, and its last removals do not.
    private static func compare(_ plan: MigrationPlan, with router: StorageRouter) async throws {
        var expected: [String: Int?] = [:]
        for entry in plan.entries {
            for value in entry.writes { expected[value.address] = .some(value.size) }
            for value in entry.removes { expected[value.address] = .some(nil) }
        }
        #expect(expected.count == 8)
        for (address, size) in expected {
            let data = try await router.data(for: router.key(at: address))
            #expect(data?.count == size, "\(address)")
        }
    }

    @Test("a plan shows addresses and sizes, but no values")
    func content() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        try await Self.fill(try home.router())
        let plan = try await router(home).migrations.plan()
        let encoded = try JSONEncoder().encode(plan)
        #expect(!String(decoding: encoded, as: UTF8.self).contains("data of"))
        #expect(try JSONDecoder().decode(MigrationPlan.self, from: encoded) == plan)
        let first = try #require(plan.entries.first)
        #expect(first.destination == "fileSystem:documents/b" && first.revision == 1)
        #expect(first.reads == [MigrationPlan.Value(address: "rows/a", size: 11)])
        #expect(first.writes == [MigrationPlan.Value(address: "fileSystem:documents/b", size: 11)])
        #expect(first.removes == first.reads)
        // The second migration sees the first one's result.
        #expect(plan.entries[1].reads == first.writes)
    }

    @Test("one migration is planned and run with its dependencies, and a run up to an id stops there")
    func selection() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        try await Self.fill(try home.router())
        let router = try await router(home)
        let second = try #require(Self.migrations.first?.id)
        let only = try await router.migrations.plan(.only(second)).entries.map(\.destination)
        #expect(only == ["fileSystem:documents/b", "encryptedFileSystem:documents/c"])
        let all = try await router.migrations.plan().entries.map(\.migration)
        let upTo = try await router.migrations.plan(.upTo("failing")).entries.map(\.migration)
        #expect(upTo == Array(all[...(try #require(all.firstIndex(of: "failing")))]))
        let error = await MigrationError.of { try await router.migrate(.only("dependent")) }
        #expect(error?.code == .validationFailed)
        #expect(error?.message == "there is no migration 'dependent' in what is configured; did you mean 'dependant'?")
        let huge = await MigrationError.of { try await router.migrate(.upTo(String(repeating: "x", count: 100_000))) }
        #expect(huge?.message.utf8.count ?? .max < 200)
        #expect(try await router.migrate(.only(second)).entries.map(\.outcome) == [.migrated, .migrated])
        #expect(try await router.exists(Self.key("c", .encryptedFileSystem())))
        #expect(try await !router.exists(Self.key("same")))
    }

    @Test("a run of all migrations reports its progress, which only grows")
    func progress() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        try await Self.fill(try home.router())
        let told = MutexBox<[MigrationProgress]>([])
        let report = try await router(home).migrate { progress in told.withLock { $0.append(progress) } }
        let all = told.withLock { $0 }
        #expect(all.map(\.fraction) == all.map(\.fraction).sorted())
        #expect(all.first?.fraction == 0 && all.last?.fraction == 1)
        #expect(Set(all.map(\.migration)) == Set(report.entries.compactMap(\.migration)))
    }

    @Test("data of a later revision, a damaged ledger and a key for other devices are entries of the plan")
    func obstacles() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let old = try home.router()
        try await old.set("data", for: Self.key("a"))
        let later = SimpleLegacyMigration(destinationKey: Self.key("b"), sourceKey: .key(Self.key("a")), revision: 2)
        try await old.registerMigration(later)
        #expect(try await old.migrate().failures.isEmpty)
        try await old.set("data", for: Self.key("c"))
        try await old.registerMigration(Self.move(Self.key("c"), to: Self.key("d")))
        #expect(try await old.migrate().failures.isEmpty)
        let ledger = try await old.ledgerPlace(of: Self.key("d"))
        try await ledger.set(Data("no page".utf8))

        let router = try home.router(version: nil, "device: { role: \"watch\" }")
        try await router.set("again", for: Self.key("a"))
        let phone = StorageKey<String>(
            name: "e", domain: .fileSystem(), security: .none, owner: "tests", description: "a key",
            availability: .phoneOnly)
        try await router.registerMigration(Self.move(Self.key("a"), to: Self.key("b")))
        try await router.registerMigration(Self.move(Self.key("c"), to: Self.key("d")))
        try await router.registerMigration(Self.move(Self.key("f"), to: phone))
        let before = Self.everything(home)
        let plan = try await router.migrations.plan()
        #expect(Self.everything(home) == before)
        #expect(plan.entries.map(\.decision) == [.refused, .refused, .skipped])
        #expect(plan.entries.map(\.error) == ["later revision found", "storage failed", nil])
        #expect(plan.entries[0].why.contains("revision 2") && plan.entries[1].why.contains("damaged"))
        #expect(plan.entries[2].why.contains("phoneOnly"))
        // The errors include the hints.
        let errors = try await router.migrate().entries.compactMap(\.error)
        #expect(errors.map { "\($0)" } == plan.refusals.map(\.why))
        #expect(errors.contains { $0.description != $0.message })
    }

    @Test("the plan includes sources that an earlier run has left, unless they have changed since")
    func cleanup() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let key = Self.key("b")
        let migration = Self.scripted("two", key) { router, _ in
            try await router.remove(Self.key("a"))
            try await router.remove(Self.key("c"))
            try await router.set("both", for: key)
            return MigrationResult(success: true)
        }
        try await router.set("1", for: Self.key("a"))
        try await router.set("2", for: Self.key("c"))
        let unchanged = try await router.resolve(KeyReference(Self.key("c"))).stored()
        try await router.registerMigration(migration)
        #expect(try await router.migrate().entries.map(\.outcome) == [.migrated])
        // As if the run had been stopped before its removals, and the source had changed since.
        let ledger = try Ledger(
            try await router.access(), of: try await router.resolve(KeyReference(key)))
        var page = try await ledger.page()
        page["two"]?.state = .published
        try await ledger.commit(page)
        try await router.set("changed", for: Self.key("a"))
        try await router.set("2", for: Self.key("c"))
        #expect(try await router.resolve(KeyReference(Self.key("c"))).stored() == unchanged)
        let plan = try await router.migrations.plan()
        #expect(plan.entries.map(\.decision) == [.cleanup])
        #expect(plan.entries[0].removes == [MigrationPlan.Value(address: "fileSystem:documents/c", size: 3)])
        #expect(try await router.migrate().entries.map(\.outcome) == [.cleaned])
        #expect(try await router.get(Self.key("a")) == "changed")
        #expect(try await !router.exists(Self.key("c")))
    }

    @Test("an interrupted batch is reported and left; the next use of the router completes it")
    func interruptedBatch() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        for name in ["a", "b"] { try await router.set("old", for: Self.key(name)) }
        try await router.interruptBatch(of: [Self.key("a"), Self.key("b", Self.rows)], to: Data("\"new\"".utf8))
        let next = try home.router()
        try await next.registerMigration(Self.move(Self.key("a"), to: Self.key("c")))
        let before = Self.everything(home)
        let plan = try await next.migrations.plan()
        #expect(Self.everything(home) == before)
        #expect(plan.notes.count == 1 && plan.notes[0].contains("a batch of 2 changes"))
        #expect(plan.entries[0].reads == [MigrationPlan.Value(address: "fileSystem:documents/a", size: 5)])
        #expect(try await next.get(Self.key("b", Self.rows)) == "new")
        #expect(try await next.migrations.plan().notes.isEmpty)
    }

    @Test("a migration that uses the router instead of its transaction is refused in a plan, too")
    func recursion() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let source = Self.key("source")
        try await router.set("data", for: source)
        let inner: StorageKey<String> = MigrationHome.key("inner", .fileSystem()) { Self.move(source, to: $0) }
        try await router.registerMigration(
            Self.scripted("outer", Self.key("outer")) { _, _ in
                _ = try await router.get(inner)
                return MigrationResult(success: true)
            })
        let before = Self.everything(home)
        #expect(try await router.migrations.plan().entries.map(\.error) == ["migration in progress"])
        #expect(Self.everything(home) == before)
    }
}
