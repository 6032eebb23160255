import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostPlugins
@testable import LocalDataHost

@Suite("conditions of migrations", .timeLimit(.minutes(3))) struct MigrationConditionTests {
    private let old: StorageKey<String> = MigrationHome.key("old", .fileSystem())
    private let new: StorageKey<String> = MigrationHome.key("new", .fileSystem())

    private func moving(_ policy: MigrationConflictPolicy = .keepDestination) -> StorageKey<String> {
        MigrationHome.key("new", .fileSystem()) { [old] in
            AnyStorageMigration(
                SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(old), conflictPolicy: policy))
        }
    }

    @Test("seed defect 2: the condition that a migration declares is evaluated, with the context")
    func condition() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router(version: "3.1", "device: { role: \"phone\" }")
        await router.updateMigrationPreferences(["wantsNames": true])
        let key: StorageKey<String> = MigrationHome.key("new", .fileSystem()) { (key: StorageKey<String>) in
            var migration = ScriptedMigration(destinationKey: key) { router, _ in
                try await router.set("brought", for: key)
                return MigrationResult(success: true)
            }
            migration.condition = { _, context in
                context.appVersion == "3.1" && context.deviceInfo.role == .phone
                    && context.userPreferences["wantsNames"] == true
            }
            return AnyStorageMigration(migration)
        }
        let other = try home.router(version: "3.1")
        await #expect(throws: StorageError.notFound) { try await other.get(key) }
        #expect(try await router.get(key) == "brought")
    }

    @Test("seed defect 2: kinds that look for their sources themselves evaluate their condition on the context, too")
    func contextAlone() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let (source, place) = (old, StorageDomain.custom(name: "rows"))
        let transforming: StorageKey<String> = MigrationHome.key("transformed", place) {
            AnyStorageMigration(EarlyTransformation(destinationKey: $0, sourceKey: source))
        }
        let aggregating: StorageKey<String> = MigrationHome.key("aggregated", place) {
            AnyStorageMigration(EarlyAggregation(destinationKey: $0, sourceKeys: [.key(source)]))
        }
        for key in [transforming, aggregating] {
            try await home.router().set("old", for: old)
            await #expect(throws: StorageError.notFound) { try await home.router(version: "2.0").get(key) }
            #expect(try await home.router().get(old) == "old")
            #expect(try await home.router(version: "1.0").get(key) == "OLD")
        }
    }

    @Test("seed defect 10: a number that is aggregated is an Int, as the seeds read it")
    func numbers() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let count: StorageKey<Int> = MigrationHome.key("count", .fileSystem())
        let settings: StorageKey<[String: Int]> = MigrationHome.key("settings", .fileSystem())
        let sum: StorageKey<Int> = MigrationHome.key("sum", .fileSystem()) {
            AnyStorageMigration(
                DefaultAggregatingMigration(destinationKey: $0, sourceKeys: [.key(count), .key(settings)]) { sources in
                    var sum = 0
                    for source in sources {
                        if let number = source.value as? Int { sum += number }
                        if let data = source.value as? [String: (any Sendable)?] { sum += data["count"] as? Int ?? 0 }
                    }
                    return sum
                })
        }
        let router = try home.router()
        try await router.set(40, for: count)
        try await router.set(["count": 2], for: settings)
        #expect(try await router.get(sum) == 42)
    }

    @Test("seed defect 4: an existing value stays, unless a policy says otherwise by name")
    func conflict() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("newer", for: new)
        try await router.set("stale", for: old)
        let before = home.files
        #expect(try await router.forceMigration(for: moving()).outcome == .destinationKept)
        let error = await MigrationError.of { try await router.forceMigration(for: moving(.fail)) }
        #expect(error?.code == .conflict && error?.message.contains("fileSystem:documents/new") == true)
        #expect(home.files == before)
        #expect(
            try await router.forceMigration(for: moving(.fail), onConflict: .keepDestination).outcome
                == .destinationKept)
        #expect(try await router.forceMigration(for: moving(), onConflict: .takeSource).outcome == .migrated)
        #expect(try await router.get(new) == "stale")
        #expect(try await !router.exists(old))
    }

    @Test("seed defect 9: no data and no migration are distinct outcomes, and are not recorded")
    func nothing() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let result = try await router.forceMigration(for: moving())
        #expect(result.outcome == .nothingToDo && result.success && result.migratedCount == 0)
        #expect(try await router.forceMigration(for: new).outcome == .noMigration)
        #expect(try await router.migrationHistory(for: new).isEmpty)
        #expect(home.files.isEmpty)
        await #expect(throws: StorageError.notFound) { try await router.get(moving()) }
        try await router.registerDefault("default", for: new)
        #expect(try await router.get(moving()) == "default")
    }

    @Test("seed defect 11: the version that wrote the data counts")
    func writingVersion() async throws {
        func key(_ minimum: String) -> StorageKey<String> {
            MigrationHome.key("new", .fileSystem()) { [old] (key: StorageKey<String>) in
                AnyStorageMigration(
                    AppVersionConditionalMigration(
                        destinationKey: key, minAppVersion: minimum,
                        fallbackMigration: AnyStorageMigration(
                            SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old)))))
            }
        }
        for (written, minimum, isRun) in [
            ("1.0", "2.0", true), ("2.0.0", "2.0", false), ("2.0.0-beta.1", "2.0", true), ("3.0", "2.0", false),
        ] {
            let home = try MigrationHome()
            defer { home.remove() }
            try await home.router(version: written).set("data", for: old)
            let router = try home.router(version: "9.0")
            #expect(try await router.forceMigration(for: key(minimum)).outcome == (isRun ? .migrated : .nothingToDo))
            #expect(try await router.exists(old) == !isRun)
        }
    }

    @Test("seed defect 12: an unknown or missing version is an error that says how to set it")
    func unknownVersion() async throws {
        let key: StorageKey<String> = MigrationHome.key("new", .fileSystem()) { [old] (key: StorageKey<String>) in
            AnyStorageMigration(
                AppVersionConditionalMigration(
                    destinationKey: key, minAppVersion: "2.0",
                    fallbackMigration: AnyStorageMigration(
                        SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old)))))
        }
        let home = try MigrationHome()
        defer { home.remove() }
        // Without data, no version has to be known.
        let router = try home.router(version: "3.0")
        await #expect(throws: StorageError.notFound) { try await router.get(key) }
        try await home.router().set("data", for: old)
        let unknown = await MigrationError.of { try await router.get(key) }
        #expect(unknown?.code == .conditionalMigrationFailed)
        #expect(unknown?.message.contains("migrations.dataVersion") == true)
        let malformed = try home.router(version: "3.0", "migrations: { dataVersion: \"Unknown\" }")
        #expect(await MigrationError.of { try await malformed.get(key) }?.message.contains("'Unknown'") == true)
        #expect(try await router.exists(old))
        let told = try home.router(version: "3.0", "migrations: { dataVersion: \"1.0\" }")
        #expect(try await told.get(key) == "data")
    }

    @Test("seed defect 13: a fallback's own condition counts, and one for another key is refused when it is registered")
    func fallback() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router(version: "1.0")
        var never = ScriptedMigration(destinationKey: new) { [new] router, _ in
            try await router.set("forced", for: new)
            return MigrationResult(success: true)
        }
        never.condition = { _, _ in false }
        let migration = AppVersionConditionalMigration(
            destinationKey: new, minAppVersion: "2.0", fallbackMigration: AnyStorageMigration(never))
        try await router.registerMigration(migration)
        #expect(try await router.forceMigration(for: new).outcome == .nothingToDo)
        let elsewhere = AppVersionConditionalMigration(
            destinationKey: old, minAppVersion: "2.0", fallbackMigration: AnyStorageMigration(never))
        await #expect(throws: MigrationError.validationFailed) { try await router.registerMigration(elsewhere) }
        struct Catalog: StorageKeyCatalog { let allKeys: [AnyStorageKey] }
        let other = new
        let catalog = Catalog(allKeys: [
            .key(
                MigrationHome.key("catalogued", .fileSystem()) { (key: StorageKey<String>) in
                    AnyStorageMigration(
                        AppVersionConditionalMigration(
                            destinationKey: key, minAppVersion: "2.0",
                            fallbackMigration: AnyStorageMigration(
                                SimpleLegacyMigration(destinationKey: other, sourceKey: .key(key)))))
                })
        ])
        await #expect(throws: MigrationError.validationFailed) { try await router.registerCatalog(catalog) }
        // The catalog is not registered at all.
        try await router.set("free", for: old)
    }

    @Test("seed defect 17: a key for other devices is skipped, and says why")
    func availability() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router(version: nil, "device: { role: \"watch\" }")
        let source = old
        let key = StorageKey<String>(
            name: "new", domain: .fileSystem(), security: .none, owner: "tests", description: "a key",
            availability: .phoneOnly,
            migration: { AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(source))) })
        try await router.set("data", for: old)
        guard case .skipped(let reason) = try await router.forceMigration(for: key).outcome else {
            Issue.record("it was not skipped")
            return
        }
        #expect(reason.contains("phoneOnly") && reason.contains("watch"))
        #expect(try await router.exists(old))
        await #expect(throws: StorageError.phoneOnlyKeyAccessedOnWatch) { try await router.get(key) }
    }

    @Test("a program with an earlier revision does not touch data that a later one brought")
    func downgrade() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let source = old
        func key(_ revision: Int) -> StorageKey<String> {
            MigrationHome.key("new", .fileSystem()) {
                AnyStorageMigration(
                    SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(source), revision: revision))
            }
        }
        try await router.set("data", for: old)
        #expect(try await router.get(key(2)) == "data")
        try await router.remove(new)
        try await router.set("again", for: old)
        let error = await MigrationError.of { try await router.get(key(1)) }
        #expect(error?.code == .newerRevision && error?.message.contains("revision 2") == true)
        #expect(try await router.get(old) == "again")
        #expect(try await router.get(key(3)) == "again")
    }
}

/// Runs only before version 2 of the app, by the seeds' short condition.
private struct EarlyTransformation: TransformingMigration {
    let destinationKey: StorageKey<String>
    let sourceKey: StorageKey<String>

    func shouldMigrate(context: MigrationContext) async throws -> Bool { context.appVersion == "1.0" }
    func transform(_ source: String) async throws -> String { source.uppercased() }
}

/// The same for several sources.
private struct EarlyAggregation: AggregatingMigration {
    let destinationKey: StorageKey<String>
    let sourceKeys: [AnyStorageKey]

    func shouldMigrate(context: MigrationContext) async throws -> Bool { context.appVersion == "1.0" }
    func aggregate(_ sources: MigrationSources) async throws -> String {
        sources.compactMap { $0.value as? String }.joined().uppercased()
    }
}
