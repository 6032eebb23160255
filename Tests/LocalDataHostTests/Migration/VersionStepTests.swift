import FoundationEssentials
import LocalDataAPI
import Testing

@testable import LocalDataHost

@Suite("steps between versions", .timeLimit(.minutes(3))) struct VersionStepTests {
    private static let key: StorageKey<String> = MigrationHome.key("profile", .fileSystem())

    /// Steps of one value, each of which records that it ran.
    private static func register(_ router: StorageRouter, _ versions: [String]) async throws {
        var last: [String] = []
        for version in versions {
            let step = ScriptedMigration(
                destinationKey: key, id: "step", sources: [.key(key)], dependencies: last
            ) { router, _ in
                try await router.set("\(try await router.get(key)) > \(version)", for: key)
                return MigrationResult(success: true, migratedCount: 1)
            }
            let migration = AppVersionConditionalMigration(
                destinationKey: key, minAppVersion: version, fallbackMigration: AnyStorageMigration(step))
            try await router.registerMigration(migration)
            last = [migration.id]
        }
    }

    private func taken(
        from written: String, under running: String, _ versions: [String], _ text: String = ""
    ) async throws -> String {
        let home = try MigrationHome()
        defer { home.remove() }
        try await home.router(version: written.isEmpty ? nil : written).set("data", for: Self.key)
        let router = try home.router(version: running, text)
        try await Self.register(router, versions)
        let plan = try await router.migrations.plan()
        let report = try await router.migrate()
        #expect(report.failures.isEmpty, "\(report.failures.compactMap(\.error))")
        #expect(
            plan.entries.map { $0.decision == .run } == report.entries.map { $0.outcome == .migrated }, "\(running)")
        // A second run has nothing to do, and neither has one of another process.
        #expect(try await router.migrate().entries.allSatisfy { $0.outcome == .nothingToDo })
        let next = try home.router(version: running, text)
        try await Self.register(next, versions)
        #expect(try await next.migrate().entries.allSatisfy { $0.outcome == .nothingToDo })
        return try await router.get(Self.key)
    }

    @Test("data of 1.0 under an app of 3.0 goes through 2.0 and 3.0")
    func all() async throws {
        #expect(try await taken(from: "1.0", under: "3.0", ["2.0", "3.0"]) == "data > 2.0 > 3.0")
        #expect(try await taken(from: "2.0", under: "3.0", ["2.0", "3.0"]) == "data > 3.0")
        #expect(try await taken(from: "1.0", under: "2.5", ["2.0", "3.0"]) == "data > 2.0")
        #expect(try await taken(from: "3.0", under: "3.0", ["2.0", "3.0"]) == "data")
        let dated = try await taken(
            from: "", under: "3.0", ["2.0", "3.0"], "migrations: { dataVersion: \"1.0\" }")
        #expect(dated == "data > 2.0 > 3.0")
    }

    @Test("a value that is only moved keeps the version that wrote it, so that later steps run")
    func moved() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let old: StorageKey<String> = MigrationHome.key("old", .fileSystem())
        try await home.router(version: "1.0").set("data", for: old)
        let router = try home.router(version: "3.0")
        try await router.registerMigration(
            SimpleLegacyMigration(destinationKey: Self.key, sourceKey: .key(old)))
        try await Self.register(router, ["2.0", "3.0"])
        #expect(try await router.migrate().failures.isEmpty)
        #expect(try await router.get(Self.key) == "data > 2.0 > 3.0")
    }

    @Test("a step in place runs only once, even in a store that keeps no versions")
    func withoutAttributes() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.home.router(
            domains: "fileSystem: \"plain\"",
            """
            stores: { plain: { component: "sleepy" } }, app: { version: "2.0" }, migrations: { dataVersion: "1.0" }
            """)
        try await router.registerPlugin(
            named: "Sleepy", Plugin.export("Sleepy", version: "1.0.0", .storage(SleepyStore.self)))
        try await router.set("data", for: Self.key)
        try await Self.register(router, ["2.0"])
        for _ in 0..<3 { #expect(try await router.migrate().failures.isEmpty) }
        #expect(try await router.get(Self.key) == "data > 2.0")
    }

    @Test("under 2.0.0-beta.3 the steps up to it run, but not those to the candidate or the final version")
    func prerelease() async throws {
        let versions = [
            "2.0.0-alpha", "2.0.0-beta.1", "2.0.0-beta.2", "2.0.0-beta.3", "2.0.0-rc.1", "2.0.0",
        ]
        #expect(
            try await taken(from: "1.0", under: "2.0.0-beta.3", versions)
                == "data > 2.0.0-alpha > 2.0.0-beta.1 > 2.0.0-beta.2 > 2.0.0-beta.3")
        #expect(
            try await taken(from: "2.0.0-beta.3", under: "2.0.0", versions) == "data > 2.0.0-rc.1 > 2.0.0")
    }

    @Test("an unknown version of the data, or a malformed running one, is an error that says how to set it")
    func unknown() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        try await home.router().set("data", for: Self.key)
        let router = try home.router(version: "3.0")
        try await Self.register(router, ["2.0", "3.0"])
        let plan = try await router.migrations.plan()
        #expect(plan.refusals.count == 2)
        #expect(plan.refusals.first?.why.contains("ld-host config set migrations.dataVersion VERSION") == true)
        let odd = try home.router(version: "three", "migrations: { dataVersion: \"1.0\" }")
        try await Self.register(odd, ["2.0"])
        let message = try await odd.migrate().failures.first?.error?.message
        #expect(message?.contains("ld-host config set app.version VERSION") == true)
        #expect(try await router.get(Self.key) == "data")
    }
}
