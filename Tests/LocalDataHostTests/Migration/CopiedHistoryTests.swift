import LocalDataAPI
import Testing

@testable import LocalDataHost

@Suite("the history of migrations when a domain goes to another store", .timeLimit(.minutes(2)))
struct CopiedHistoryTests {
    private let rows = StorageDomain.custom(name: "rows")
    private let others = StorageDomain.custom(name: "others")

    /// A router whose domain `rows` is served by `first` or `second`; `others` stays in `first`.
    private func router(_ home: MigrationHome, _ store: String) throws -> StorageRouter {
        let stores = ["first", "second"].map {
            "\($0): { component: \"sqlite\", options: { path: \"${data}/\($0).sqlite\" } }"
        }
        return try home.home.router(
            domains: "fileSystem: \"file\", others: \"first\", rows: \"\(store)\"",
            "stores: { \(stores.joined(separator: ", ")) }")
    }

    private func key(_ domain: StorageDomain) -> StorageKey<String> {
        let old: StorageKey<String> = MigrationHome.key("old", .fileSystem())
        return MigrationHome.key("new", domain) { key in
            AnyStorageMigration(
                SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old), conflictPolicy: .takeSource))
        }
    }

    @Test("a migration of one value can be undone there")
    func one() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let first = try router(home, "first")
        for domain in [rows, others] {
            try await first.set("before", for: MigrationHome.key("new", domain) as StorageKey<String>)
            try await first.set("legacy", for: MigrationHome.key("old", .fileSystem()) as StorageKey<String>)
            #expect(try await first.forceMigration(for: key(domain)).outcome == .migrated)
        }
        let report = try await first.stores.copy("first", to: "second", domains: ["rows"], moving: true)
        #expect(report.differences.isEmpty && report.changed.isEmpty && report.failures.isEmpty, "\(report)")
        let second = try router(home, "second")
        #expect(try await second.migrationHistory(for: key(rows)).map(\.state) == [.clean])
        try await second.migrations.rollback(of: key(rows))
        #expect(try await second.get(MigrationHome.key("new", rows)) == "before")
        #expect(try await second.get(MigrationHome.key("old", .fileSystem())) == "legacy")
        // Records about another domain stay.
        #expect(try await second.migrationHistory(for: key(others)).map(\.state) == [.clean])
    }

    @Test("a bulk migration can be undone there")
    func many() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let first = try router(home, "first")
        for number in 1...3 {
            try await first.set("before \(number)", for: BulkMigrationTests.key("new.\(number)", rows))
            try await first.set("legacy \(number)", for: BulkMigrationTests.key("old.\(number)", .fileSystem()))
        }
        let move = BulkMigrationTests.move(.fileSystem(), rows, .takeSource)
        try await first.registerMigration(move)
        #expect(try await first.runMigration("move").migratedCount == 3)
        #expect(try await first.stores.copy("first", to: "second", domains: ["rows"], moving: true).failures.isEmpty)
        let second = try router(home, "second")
        try await second.registerMigration(move)
        try await second.migrations.rollback("move")
        for number in 1...3 {
            #expect(try await second.get(BulkMigrationTests.key("new.\(number)", rows)) == "before \(number)")
            #expect(try await second.get(BulkMigrationTests.key("old.\(number)", .fileSystem())) == "legacy \(number)")
        }
    }

    @Test("the other store's own record of a key stays, and does not prevent moving the domain")
    func other() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let first = try router(home, "first")
        try await first.set("legacy", for: MigrationHome.key("old", .fileSystem()) as StorageKey<String>)
        #expect(try await first.get(key(rows)) == "legacy")
        try await first.remove(MigrationHome.key("new", rows) as StorageKey<String>)
        try await first.set("later", for: MigrationHome.key("old", .fileSystem()) as StorageKey<String>)
        let second = try router(home, "second")
        try await second.remove(key(rows))
        let report = try await second.stores.copy("first", to: "second", domains: ["rows"], moving: true)
        #expect(report.differences.isEmpty && report.failures.isEmpty, "\(report)")
        #expect(try await second.migrationHistory(for: key(rows)).map(\.state) == [.superseded])
        await #expect(throws: StorageError.notFound) { try await second.get(key(rows)) }
    }
}
