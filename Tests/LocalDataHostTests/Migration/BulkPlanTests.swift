import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostMigration
@testable import LocalDataHost

@Suite("plans and runs of bulk migrations", .timeLimit(.minutes(3))) struct BulkPlanTests {
    private static let source = MigrationRange(domain: .fileSystem(), prefix: "old.", serializer: .json)
    private static let destination = MigrationRange(domain: .custom(name: "rows"), prefix: "new.", serializer: .json)

    private static func key(_ name: String, _ domain: StorageDomain = .fileSystem()) -> StorageKey<String> {
        MigrationHome.key(name, domain)
    }

    /// Another migration adds a value to the range right before the range is moved.
    private func router(_ home: MigrationHome) async throws -> StorageRouter {
        let router = try home.router()
        let first = SimpleLegacyMigration(
            destinationKey: Self.key("old.late"), sourceKey: .key(Self.key("elsewhere")))
        try await router.registerMigration(
            SimpleBulkMigration(id: "move", from: Self.source, to: Self.destination, dependencies: [first.id]))
        try await router.registerMigration(first)
        return router
    }

    @Test("a plan says how many values are moved and how many stay, and a run moves as many")
    func agreement() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let writer = try home.router()
        for number in 0..<20 { try await writer.set("\(number)", for: Self.key("old.\(number)")) }
        for number in 0..<3 { try await writer.set("kept", for: Self.key("new.\(number)", .custom(name: "rows"))) }
        try await writer.set("late", for: Self.key("elsewhere"))
        let before = MigrationPlanTests.everything(home)
        let plan = try await router(home).migrations.plan()
        #expect(MigrationPlanTests.everything(home) == before)
        #expect(plan.entries.map(\.decision) == [.run, .run])
        #expect(plan.entries[1].count == 18 && plan.entries[1].why.contains("3 stay"))
        let told = MutexBox<[MigrationProgress]>([])
        let router = try await router(home)
        let report = try await router.migrate { progress in told.withLock { $0.append(progress) } }
        #expect(report.entries.map(\.outcome) == [.migrated, .migrated])
        #expect(told.withLock { $0 }.contains { $0.migration == "move" && $0.total == 21 })
        #expect(told.withLock { $0.map(\.fraction) == $0.map(\.fraction).sorted() })
        let names = try await router.names(in: .custom(name: "rows"), prefix: "new.")
        #expect(names.count == 21)
        #expect(try await router.names(in: .fileSystem(), prefix: "old.").count == 3)
        #expect(try await router.migrations.status().migrations.map(\.state) == [.done, .done])
        #expect(try await router.migrations.plan().entries.map(\.decision) == [.nothingToDo, .destinationKept])
    }

    @Test("a range is rolled back by its id, but only where the migration is known")
    func rollback() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try await router(home)
        for number in 0..<5 { try await router.set("\(number)", for: Self.key("old.\(number)")) }
        #expect(try await router.migrate().failures.isEmpty)
        let stranger = try home.router()
        await #expect(throws: MigrationError.unresolvedDependency) { try await stranger.migrations.rollback("move") }
        #expect(try await stranger.migrations.history().records.map(\.state) == [.clean])
        try await router.migrations.rollback("move")
        #expect(try await router.names(in: .fileSystem(), prefix: "old.").count == 5)
        #expect(try await router.migrations.history().records.map(\.state) == [.rolledBack])
    }
}
