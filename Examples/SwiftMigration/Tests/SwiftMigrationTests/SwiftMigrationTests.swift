import LocalDataAPI
import LocalDataHost
import LocalDataTesting
import Testing

@testable import SwiftMigration

@Suite("SwiftMigration")
struct SwiftMigrationTests {
    private let host = HostServices(name: "test", version: "1")

    @Test("lists its migrations by ids of their own, and each is right by its own word")
    func list() throws {
        let migrations = SwiftMigration(options: ComponentOptions(), host: host).migrations
        #expect(Set(migrations.map(\.id)).count == migrations.count)
        for migration in migrations { try migration.validate() }
    }

    @Test("keeps every promise of a migration pack")
    func conforms() async throws {
        let report = try await MigrationConformance.run(SwiftMigration.self)
        #expect(report.failures.isEmpty, "\(report)")
    }

    @Test("brings the theme to a router's key")
    func migrates() async throws {
        let router = try await StorageRouter.inMemory()
        try await router.set("dark", for: .oldTheme)
        for migration in SwiftMigration(options: ComponentOptions(), host: host).migrations {
            try await router.registerMigration(migration)
        }
        #expect(try await router.get(.theme) == "dark")
        #expect(try await !router.exists(.oldTheme))
    }
}
