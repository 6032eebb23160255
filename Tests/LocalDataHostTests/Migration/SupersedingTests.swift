import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostStores
@testable import LocalDataHost

@Suite("older data of keys that were set or removed", .timeLimit(.minutes(3))) struct SupersedingTests {
    private let old: StorageKey<String> = MigrationHome.key("old", .fileSystem())

    /// A key whose migration takes the value at `old`.
    private func moving(
        _ domain: StorageDomain = .custom(name: "rows"), _ policy: MigrationConflictPolicy = .keepDestination,
        named: Bool = true
    ) -> StorageKey<String> {
        MigrationHome.key("new", domain) { [old] (key: StorageKey<String>) in
            guard !named else {
                return AnyStorageMigration(
                    SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old), conflictPolicy: policy))
            }
            // A migration that names no sources.
            var migration = ScriptedMigration(destinationKey: key) { router, _ in
                try await router.set(try await router.get(old), for: key)
                try await router.remove(old)
                return MigrationResult(success: true)
            }
            migration.condition = { router, _ in try await router.exists(old) }
            return AnyStorageMigration(migration)
        }
    }

    /// The ways to remove a key.
    enum Removal: CaseIterable {
        case typed, untyped, batch

        func callAsFunction(_ key: StorageKey<String>, _ router: StorageRouter) async throws {
            switch self {
            case .typed: try await router.remove(key)
            case .untyped: _ = try await router.remove(.key(key))
            case .batch: try await router.batch { $0.remove(key) }
            }
        }
    }

    /// The ways to set a key.
    enum Setting: CaseIterable {
        case typed, untyped, batch, pieces

        func callAsFunction(_ value: String, _ key: StorageKey<String>, _ router: StorageRouter) async throws {
            let data = try key.serializer.encode(value)
            switch self {
            case .typed: try await router.set(value, for: key)
            case .untyped: try await router.setData(data, for: .key(key))
            case .batch: try await router.batch { try $0.set(value, for: key) }
            case .pieces:
                let rest = Counter()
                try await router.writePieces(for: .key(key)) { buffer in
                    guard rest.value == 0 else { return 0 }
                    rest.add()
                    buffer.copyBytes(from: data)
                    return data.count
                }
            }
        }
    }

    @Test(
        "a removed value does not come back, however it was removed and wherever older data is",
        arguments: MigrationHome.domains, Removal.allCases)
    func removed(_ domain: StorageDomain, _ removal: Removal) async throws {
        for named in [true, false] {
            let home = try MigrationHome()
            defer { home.remove() }
            let key = moving(domain, named: named)
            let router = try home.router()
            try await router.set("legacy", for: old)
            try await removal(key, router)
            for router in [router, try home.router()] {
                await #expect(throws: StorageError.notFound) { try await router.get(key) }
                #expect(try await router.forceMigration(for: key).outcome == .nothingToDo)
                #expect(try await router.data(for: .key(key)) == nil)
                #expect(try await router.get(old) == "legacy")
            }
            // This is new data, which no caller has removed or replaced.
            try await router.set("legacy, written later", for: old)
            #expect(try await home.router().get(key) == "legacy, written later")
        }
    }

    @Test(
        "a value that was set and then removed without the migration leaves nothing behind",
        arguments: Setting.allCases)
    func set(_ setting: Setting) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let key = moving()
        try await home.router().set("legacy", for: old)
        try await setting("new", key, home.router())
        #expect(try await home.router().get(key) == "new")
        try await home.router().remove(MigrationHome.key("new", .custom(name: "rows")) as StorageKey<String>)
        await #expect(throws: StorageError.notFound) { try await home.router().get(key) }
        let record = try #require(try await home.router().migrationHistory(for: key).first)
        #expect(record.state == .superseded)
        // After a rollback, the old value counts again.
        try await home.router().migrations.rollback(of: key)
        #expect(try await home.router().get(key) == "legacy")
    }

    @Test("a failed change supersedes nothing")
    func failure() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let key = moving()
        let router = try home.router()
        try await router.set("legacy", for: old)
        let refused = StorageKey<String>(
            name: "refused", domain: .keychain(service: "tests"),
            security: .keychain(accessibility: .afterFirstUnlock, accessControl: .biometryAny), owner: "tests",
            description: "a key that cannot be used here")
        await #expect(throws: StorageError.securityApplicationFailed) {
            try await router.batch {
                $0.remove(key)
                try $0.set("x", for: refused)
            }
        }
        #expect(try await router.get(key) == "legacy")
    }

    @Test("a removed value of one key or of a range does not come back after a swap of the store either")
    func swapped() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let (key, rows) = (moving(), StorageDomain.custom(name: "rows"))
        let ranged: StorageKey<String> = BulkMigrationTests.key("new.1", rows)
        func router(_ store: String = "rows") async throws -> StorageRouter {
            let router = try home.home.router(
                domains: "fileSystem: \"file\", rows: \"\(store)\"",
                "stores: { rows: { component: \"sqlite\", options: { path: \"${data}/rows.sqlite\" } } }")
            try await router.registerMigration(BulkMigrationTests.move(.fileSystem(), rows))
            return router
        }
        try await home.router().set("legacy", for: old)
        try await home.router().set("legacy", for: BulkMigrationTests.key("old.1", .fileSystem()))
        try await home.router().set("legacy", for: BulkMigrationTests.key("old.2", .fileSystem()))
        try await router().remove(key)
        try await router().remove(ranged)
        for _ in 0..<2 {
            let router = try await router("file")
            await #expect(throws: StorageError.notFound) { try await router.get(key) }
            await #expect(throws: StorageError.notFound) { try await router.get(ranged) }
            #expect(try await router.forceMigration(for: key).outcome == .nothingToDo)
            _ = try await router.runMigration("move")
            await #expect(throws: StorageError.notFound) { try await router.get(ranged) }
            #expect(try await router.get(BulkMigrationTests.key("new.2", rows)) == "legacy")
        }
        try await home.router().set("legacy, written later", for: old)
        #expect(try await router("file").get(key) == "legacy, written later")
    }

    @Test("a router without older data writes the same as one without migrations")
    func nothing() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("new", for: moving())
        try await router.remove(moving())
        #expect(try await router.migrationHistory(for: moving()).isEmpty)
    }

    @Test(
        "a migration that drops its source keeps the value, and a rollback restores the source",
        arguments: MigrationHome.domains)
    func dropping(_ domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let key = moving(domain, .dropSource)
        let router = try home.router()
        try await router.set("new", for: key)
        try await router.set("legacy", for: old)
        try await router.registerMigration(try #require(AnyStorageKey(key).migration))
        let entry = try #require(try await router.migrations.plan().entries.first)
        #expect(entry.decision == .run && entry.writes.isEmpty && entry.removes.map(\.address).count == 1, "\(entry)")
        #expect(try await router.migrate().entries.map(\.outcome) == [.sourceDropped])
        #expect(try await !router.exists(old))
        #expect(try await router.get(key) == "new")
        #expect(try await router.migrate().entries.map(\.outcome) == [.nothingToDo])
        try await router.migrations.rollback(of: key)
        #expect(try await router.get(old) == "legacy")
        #expect(try await router.get(key) == "new")
        // This also holds if the value was removed.
        try await router.remove(key)
        #expect(try await router.forceMigration(for: key).outcome == .sourceDropped)
        #expect(try await !router.exists(old))
        await #expect(throws: StorageError.notFound) { try await router.get(key) }
    }

    @Test("a large source is dropped, too")
    func large() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let key = moving(.custom(name: "rows"), .dropSource)
        let router = try home.router()
        let legacy = String(repeating: "legacy", count: 1 << 19)
        try await router.set("new", for: key)
        try await router.set(legacy, for: old)
        #expect(try await router.forceMigration(for: key).outcome == .sourceDropped)
        #expect(try await !router.exists(old))
        try await router.migrations.rollback(of: key)
        #expect(try await router.get(old) == legacy)
        try await router.remove(key)
        let other = moving(.custom(name: "rows"))
        await #expect(throws: StorageError.notFound) { try await router.get(other) }
    }

    @Test("removed values of a range do not come back, and the others are migrated", arguments: MigrationHome.domains)
    func range(_ domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        func key(_ number: Int) -> StorageKey<String> { BulkMigrationTests.key("new.\(number)", domain) }
        var batch = StorageBatch()
        for number in 1...30 { try batch.set("\(number)", for: BulkMigrationTests.key("old.\(number)", .fileSystem())) }
        try await home.router().apply(batch)
        func router(_ policy: MigrationConflictPolicy = .keepDestination) async throws -> StorageRouter {
            let router = try home.router()
            try await router.registerMigration(BulkMigrationTests.move(.fileSystem(), domain, policy))
            return router
        }
        try await router().remove(key(7))
        try await router().set("new", for: key(8))
        try await home.router().remove(key(8))
        try await router().set("new", for: key(9))
        await #expect(throws: StorageError.notFound) { try await router().get(key(7)) }
        let plan = try #require(try await router().migrations.plan().entries.first)
        #expect(plan.decision == .run && plan.count == 27, "\(plan)")
        let result = try await router().runMigration("move")
        #expect(result.migratedCount == 27 && result.metadata["kept"] == 3, "\(result)")
        for number in 1...30 {
            let value = try? await router().get(key(number))
            #expect(value == [7: nil, 8: nil, 9: "new"][number, default: "\(number)"], "\(number)")
        }
        let names = try await router().names(in: .fileSystem(), prefix: "old.")
        #expect(names.sorted() == ["old.7", "old.8", "old.9"])
        let statuses = try await router().migrations.status().migrations
        #expect(
            statuses.count { $0.state == .superseded } == 3 && !statuses.contains { $0.needsAttention }, "\(statuses)")
        // The sources are dropped, and then restored.
        let dropping = try #require(try await router(.dropSource).migrations.plan().entries.first)
        #expect(dropping.decision == .run && dropping.count == 0, "\(dropping)")
        #expect(try await router(.dropSource).runMigration("move").outcome == .sourceDropped)
        #expect(try await router().names(in: .fileSystem(), prefix: "old.").isEmpty)
        #expect(try await router(.dropSource).runMigration("move").outcome == .nothingToDo)
        try await router(.dropSource).migrations.rollback("move")
        #expect(try await router().names(in: .fileSystem(), prefix: "old.").count == 30)
        #expect(try await router().get(BulkMigrationTests.key("old.8", .fileSystem())) == "8")
        #expect(try await router().get(key(9)) == "new")
    }
}

@Suite("older data that has been re-encrypted since", .timeLimit(.minutes(3))) struct ResealedSourceTests {
    /// The source's location: sealed by the key's policy, or by the store.
    private static let places: [StorageDomain] = [.encryptedFileSystem(), .keychain(service: "tests")]

    private func reseal(_ router: StorageRouter, _ domain: StorageDomain) async throws {
        let ring: KeyRingName = domain == .encryptedFileSystem() ? .master : .store("sealed-files")
        let former = try #require(try await router.keys.list(of: ring).first)
        try await router.keys.rotate(of: ring)
        #expect(try await router.keys.reseal(ring).resealed > 0)
        // Nothing needs the old key any more.
        try await router.keys.retire(former.id, of: ring)
    }

    @Test("a value does not come back", arguments: places, ["removed", "set and removed", "swept"])
    func one(_ domain: StorageDomain, _ way: String) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let old: StorageKey<String> = MigrationHome.key("old", domain)
        let key: StorageKey<String> = MigrationHome.key("new", domain) { key in
            AnyStorageMigration(SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old)))
        }
        let plain: StorageKey<String> = MigrationHome.key("new", domain)
        let router = try home.router()
        try await router.set("legacy", for: old)
        if way == "set and removed" {
            try await router.set("new", for: key)
            try await home.router().remove(plain)
        } else {
            try await router.remove(key)
        }
        for _ in 0..<2 {
            try await reseal(router, domain)
            if way == "swept" {
                #expect(try await home.router().forceMigration(for: key).outcome == .nothingToDo)
            }
            await #expect(throws: StorageError.notFound) { try await home.router().get(key) }
            #expect(try await router.get(old) == "legacy")
        }
        // No witness of the old data is left.
        try await router.migrations.rollback(of: key)
        #expect(try await router.get(key) == "legacy")
        #expect(!home.files.keys.contains { $0.contains("witness") })
    }

    @Test("a later value is migrated", arguments: places)
    func later(_ domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let old: StorageKey<String> = MigrationHome.key("old", domain)
        let key: StorageKey<String> = MigrationHome.key("new", domain) { key in
            AnyStorageMigration(SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old)))
        }
        let router = try home.router()
        try await router.set("legacy", for: old)
        try await router.remove(key)
        try await router.set("legacy, written later", for: old)
        try await reseal(router, domain)
        #expect(try await home.router().get(key) == "legacy, written later")
        #expect(!home.files.keys.contains { $0.contains("witness") })
    }

    @Test("a value of a range does not come back", arguments: places)
    func range(_ domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        func router() async throws -> StorageRouter {
            let router = try home.router()
            try await router.registerMigration(BulkMigrationTests.move(domain, domain))
            return router
        }
        for number in 1...3 {
            try await home.router().set("\(number)", for: BulkMigrationTests.key("old.\(number)", domain))
        }
        try await router().remove(BulkMigrationTests.key("new.2", domain))
        try await reseal(home.router(), domain)
        await #expect(throws: StorageError.notFound) {
            try await router().get(BulkMigrationTests.key("new.2", domain))
        }
        #expect(try await router().migrations.plan().entries.first?.count == 2)
        #expect(try await router().runMigration("move").migratedCount == 2)
        await #expect(throws: StorageError.notFound) {
            try await router().get(BulkMigrationTests.key("new.2", domain))
        }
        #expect(try await router().names(in: domain, prefix: "old.") == ["old.2"])
    }
}
