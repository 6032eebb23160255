import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostStores
@testable import LocalDataHost

/// The SQLite store keeps each folder in a separate database, and the ledger in the database of all other namespaces.
@Suite("migrations between folders that one store keeps apart", .timeLimit(.minutes(3))) struct FolderScopeTests {
    private static let caches = StorageDomain.fileSystem(directory: .caches)
    private static let pairs: [(StorageDomain, StorageDomain)] = [
        (caches, .custom(name: "rows")), (.custom(name: "rows"), caches), (caches, .appGroupFileSystem()),
        (caches, caches),
    ]

    @Test("values are moved in bulk, and restored", arguments: pairs)
    func many(_ from: StorageDomain, _ to: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.databases()
        var batch = StorageBatch()
        for number in 1...300 {
            try batch.set("value \(number)", for: BulkMigrationTests.key("old.\(number)", from))
        }
        try await router.apply(batch)
        try await router.registerMigration(BulkMigrationTests.move(from, to))
        #expect(try await router.runMigration("move").migratedCount == 300)
        #expect(try await router.names(in: from, prefix: "old.").isEmpty)
        #expect(try await router.names(in: to, prefix: "new.").count == 300)
        #expect(try await router.get(BulkMigrationTests.key("new.300", to)) == "value 300")
        #expect(try await router.migrations.record(of: "move")?.state == .clean)
        try await router.migrations.rollback("move")
        #expect(try await router.names(in: from, prefix: "old.").count == 300)
        #expect(try await router.names(in: to, prefix: "new.").isEmpty)
    }

    @Test("a large value is moved, and restored", arguments: pairs)
    func large(_ from: StorageDomain, _ to: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.databases()
        let value = Data((0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 9) })
        let source: StorageKey<Data> = MigrationHome.key("old", from, as: .data)
        let key: StorageKey<Data> = MigrationHome.key("new", to, as: .data) { key in
            AnyStorageMigration(SimpleLegacyMigration(destinationKey: key, sourceKey: .key(source)))
        }
        try await router.set(value, for: source)
        #expect(try await router.get(key) == value)
        #expect(try await !router.exists(source))
        #expect(try await router.migrationHistory(for: key).map(\.state) == [.clean])
        try await router.migrations.rollback(of: key)
        #expect(try await router.get(source) == value)
        #expect(try await !router.exists(key))
    }
}
