import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostMigration
@testable import LocalDataHost

@Suite("migrations of packs", .timeLimit(.minutes(1))) struct PackRunningTests {
    @Test("a pack that only the configuration names brings a missing value")
    func lazily() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try await home.packRouter()
        try await router.set("value", for: LinkedPack.key("old"))
        #expect(try await router.get(LinkedPack.key("new")) == "value")
        #expect(try await !router.exists(LinkedPack.key("old")))
        let record = try #require(try await router.migrationHistory(for: LinkedPack.key("new")).first)
        #expect(
            record.pack?.name == "ours" && record.pack?.component == "linked-pack" && record.pack?.version == "1.2.3")
        #expect(record.state == .clean)
    }

    @Test("an existing value is read, written and checked without opening a pack")
    func opensLazily() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try await home.packRouter()
        let key = LinkedPack.key("there")
        try await router.set("value", for: key)
        #expect(try await router.get(key) == "value")
        #expect(try await router.exists(key))
        let slot = try #require(try await router.snapshot().packs.first)
        #expect(slot.current == nil)
        // A removed value must not come back through a pack.
        try await router.remove(key)
        #expect(slot.current != nil)
        await #expect(throws: StorageError.notFound) { try await router.get(key) }
    }

    @Test("options and context reach the pack; count and metadata come back")
    func context() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try await home.packRouter(
            "app: { version: \"3.1.0\" }, device: { role: \"watch\" }",
            pack: "component: \"linked-pack\", options: { mark: \"ü\" }")
        await router.updateMigrationPreferences(["theme": "dark"])
        let result = try await router.forceMigration(for: LinkedPack.key("telling"))
        #expect(result.migratedCount == 3 && result.metadata["told"]?.value as? Int == 6)
        #expect(result.outcome == .migrated && result.duration > 0)
        #expect(try await router.get(LinkedPack.key("telling")) == "ü 3.1.0 ? watch dark true")
    }

    /// An error that a migration of the pack throws.
    struct Thrown: Sendable, CustomTestStringConvertible {
        let id: String
        let code: MigrationError.Code
        let message: String
        var underlying: StorageError.Code?
        var hint: String?

        var testDescription: String { id }
    }

    private static let thrown = [
        Thrown(
            id: "storage error", code: .storageFailed, message: "the moon is full", underlying: .noSpace,
            hint: "empty it"),
        Thrown(
            id: "migration error", code: .aggregationFailed, message: "two and two", underlying: .corrupt,
            hint: "feed it"),
        Thrown(id: "no success", code: .decodingFailed, message: "no version fits"),
        Thrown(
            id: "other error", code: .storageFailed, message: "it was cancelled", underlying: .cancelled, hint: ""),
    ]

    @Test("the error of a pack's migration arrives with code, message and underlying error", arguments: thrown)
    func errors(_ thrown: Thrown) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try await home.packRouter()
        let error = try #require(
            await MigrationError.of { try await router.forceMigration(for: LinkedPack.key(thrown.id)) })
        #expect(error.code == thrown.code)
        #expect(error.message == "the migration '\(thrown.id)' failed: \(thrown.message)")
        #expect(error.underlying?.code == thrown.underlying && error.underlying?.hint == thrown.hint)
        #expect(try await router.migrationHistory(for: LinkedPack.key(thrown.id)).isEmpty)
    }

    @Test("a pack's migration may use the transaction from tasks of all kinds")
    func tasks() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try await home.packRouter()
        try await router.forceMigration(for: LinkedPack.key("tasks"))
        #expect(try await router.get(LinkedPack.key("tasks")) == "12")
        for number in 0..<20 { #expect(try await router.get(LinkedPack.key("part \(number)")) == "\(number)") }
    }

    @Test("a migration that does not end in time is cancelled with an error that names it, and has no effect")
    func timeout() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try await home.packRouter(pack: "component: \"linked-pack\", timeout: 2")
        let key = LinkedPack.key("hanging")
        let error = try #require(await MigrationError.of { try await router.forceMigration(for: key) })
        #expect(error.underlying?.code == .timedOut)
        #expect(error.message.contains("the migration 'hanging' of the pack 'ours' did not end within 2.0 seconds"))
        #expect(error.underlying?.hint.contains("migrations.packs.ours.timeout") == true)
        #expect(try await !router.exists(key))
        // The next migration finds a working pack.
        try await router.forceMigration(for: LinkedPack.key("telling"))
    }

    @Test("packs' migrations at once, from tasks on the I/O threads, more than there are threads")
    func crowd() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try await home.packRouter()
        let names = try await (router.migrations.packs()).map(\.name)
        #expect(names == ["ours"])
        let slot = try #require(try await router.snapshot().packs.first?.current)
        let telling = try #require(slot.migrations().first { $0.id == "tasks" })
        let access = try await router.access()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<(2 * IOExecutor.limit) {
                group.addTask {
                    try await Task(executorPreference: IOExecutor.shared) {
                        let transaction = MigrationTransaction(access)
                        let result = try await telling.migrate(using: transaction, context: MigrationContext())
                        #expect(result.success && result.migratedCount == 1)
                    }.value
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("the values of a bulk migration are converted by the pack, and its errors are passed on")
    func bulk() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try await home.packRouter()
        _ = try await router.migrations.packs()
        let pack = try #require(try await router.snapshot().packs.first?.current)
        let bulk = try #require(try pack.bulkMigrations().first)
        #expect(bulk.id == "upper" && bulk.summary == "shouts" && bulk.changesValues && bulk.pack?.name == "ours")
        #expect(
            bulk.source == MigrationRange(domain: .custom(name: "own", scope: "low"), prefix: "a.", serializer: .data))
        #expect(try bulk.convert(Data("text".utf8), named: "a.x") == Data("TEXT".utf8))
        let error = #expect(throws: MigrationError.self) { try bulk.convert(Data(), named: "a.x") }
        #expect(error?.code == .transformationFailed && error?.message == "'a.x' is empty")
    }

    @Test("keys keep scope, owner, serializer and security across the boundary")
    func keys() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try await home.packRouter()
        _ = try await router.migrations.packs()
        let pack = try #require(try await router.snapshot().packs.first?.current)
        let first = try #require(pack.migrations().first)
        #expect(first.destinationDescriptor.domain == .custom(name: "own", scope: "a/b%"))
        #expect(first.destinationDescriptor.owner == "the pack" && first.destinationDescriptor.serializer == .json)
        #expect(first.sources.map(\.descriptor.name) == ["old"])
    }
}
