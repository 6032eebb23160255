import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import LocalDataHost

@Suite("stored properties", .timeLimit(.minutes(2))) struct StoredTests {
    private static let key = textKey("theme", .userDefaults(suite: "app"))

    /// Properties as an app declares them.
    private struct Settings: Sendable {
        @Stored<String> var theme: String

        init(_ router: StorageRouter, _ key: StorageKey<String> = StoredTests.key) {
            _theme = Stored(wrappedValue: "light", key, router: router)
        }
    }

    @Test("before the load it is the default, which is never written")
    func before() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let settings = Settings(router)
        #expect(settings.theme == "light" && !settings.$theme.isLoaded)
        try await settings.$theme.load()
        try await settings.$theme.save()
        #expect(settings.theme == "light" && settings.$theme.isLoaded)
        #expect(try await !router.exists(Self.key))
        try await router.set("stored", for: Self.key)
        #expect(settings.theme == "light")
        try await settings.$theme.load()
        #expect(settings.theme == "stored")
    }

    @Test("a new value shows at once, and is written in order; of many, the last one")
    func writes() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let settings = Settings(try home.router())
        for number in 0..<200 {
            settings.theme = "\(number)"
            #expect(settings.theme == "\(number)")
        }
        try await settings.$theme.save()
        #expect(try await home.router().get(Self.key) == "199")
        #expect(settings.theme == "199")
    }

    @Test("a set before the load waits, wins over the stored value, and is not undone by the load")
    func setBeforeLoad() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("stored", for: Self.key)
        let settings = Settings(router)
        settings.theme = "set"
        try await settings.$theme.load()
        #expect(settings.theme == "set")
        try await settings.$theme.save()
        #expect(settings.$theme.isLoaded)
        #expect(try await router.get(Self.key) == "set")
        try await settings.$theme.load()
        #expect(settings.theme == "set")
    }

    @Test("an unreadable value is not overwritten by a default, nor by a set before the load")
    func unreadable() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let bytes = Data("no JSON".utf8)
        try await router.setData(bytes, for: .key(Self.key))
        let settings = Settings(router)
        await #expect(throws: StorageError.deserializationFailed) { try await settings.$theme.load() }
        #expect(settings.theme == "light" && !settings.$theme.isLoaded)
        settings.theme = "set"
        await #expect(throws: StorageError.deserializationFailed) { try await settings.$theme.save() }
        #expect(try await router.data(for: .key(Self.key)) == bytes)
        #expect(settings.theme == "set")
    }

    @Test("save throws the error of a failed write, and the next write succeeds")
    func failure() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router("device: { role: \"watch\" }")
        let key = textKey("k", availability: .phoneOnly)
        let settings = Settings(router, key)
        settings.theme = "set"
        await #expect(throws: StorageError.phoneOnlyKeyAccessedOnWatch) { try await settings.$theme.save() }
        #expect(settings.theme == "set")
        try await router.configure("device.role", "phone")
        settings.theme = "again"
        try await settings.$theme.save()
        #expect(try await router.get(key) == "again")
    }

    @Test("a write that fails after the load is not forgotten, however often save is called")
    func laterFailure() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router("device: { role: \"phone\" }")
        let settings = Settings(router, textKey("k", availability: .phoneOnly))
        try await settings.$theme.load()
        try await router.configure("device.role", "watch")
        settings.theme = "set"
        for _ in 0..<3 {
            await #expect(throws: StorageError.phoneOnlyKeyAccessedOnWatch) { try await settings.$theme.save() }
        }
        #expect(settings.theme == "set")
    }

    @Test("own changes and those of other processes are reported")
    func changes() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let settings = Settings(try home.router())
        try await settings.$theme.load()
        var iterator = settings.$theme.changes.makeAsyncIterator()
        settings.theme = "here"
        #expect(await iterator.next() == "here")
        try await settings.$theme.save()
        let other = try home.router()
        // The watch begins in the background: it does not report earlier changes.
        let told = Task { () -> String? in
            var iterator = settings.$theme.changes.makeAsyncIterator()
            while let value = await iterator.next() { if value != "here" { return value } }
            return nil
        }
        while settings.theme == "here" {
            try await other.set("elsewhere", for: Self.key)
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(settings.theme == "elsewhere")
        #expect(await told.value == "elsewhere")
        try await other.remove(Self.key)
        while settings.theme != "light" { try await Task.sleep(for: .milliseconds(20)) }
    }

    @Test("a registered default is read where nothing is stored, and never taken for a stored value")
    func registered() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.registerDefault("registered", for: Self.key)
        #expect(try await router.get(textKey("theme", .userDefaults(suite: "app"))) == "registered")
        #expect(try await !router.exists(Self.key))
        #expect(try await router.data(for: .key(Self.key)) == nil)
        try await router.registerDefault("later", for: Self.key)
        #expect(try await router.get(Self.key) == "later")
        try await router.set("stored", for: Self.key)
        #expect(try await router.get(Self.key) == "stored")
        try await router.remove(Self.key)
        #expect(try await router.get(Self.key) == "later")
        // A key of another type has no default, and neither has another router.
        let number = StorageKey<Int>(
            name: "theme", domain: .userDefaults(suite: "app"), security: .none, owner: "tests", description: "a key")
        await #expect(throws: StorageError.notFound) { try await router.get(number) }
        await #expect(throws: StorageError.notFound) { try await home.router().get(Self.key) }
        // A property has its own default.
        let settings = Settings(router)
        try await settings.$theme.load()
        #expect(settings.theme == "light")
    }

    // MARK: - Older data

    private static let old = textKey("oldTheme", .userDefaults(suite: "app"))

    private static func migrating(
        _ script: @escaping ScriptedMigration.Script = { _, _ in throw StorageError(.fileError, "the disk") }
    ) -> StorageKey<String> {
        MigrationHome.key("theme", .userDefaults(suite: "app")) {
            AnyStorageMigration(ScriptedMigration(destinationKey: $0, sources: [.key(old)], script: script))
        }
    }

    private static let simple: StorageKey<String> = MigrationHome.key("theme", .userDefaults(suite: "app")) {
        AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(old)))
    }

    @Test("a load runs the key's migration, and shows its value in place of the default")
    func migration() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("dark", for: Self.old)
        let settings = Settings(router, Self.simple)
        try await settings.$theme.load()
        #expect(settings.theme == "dark")
        #expect(try await router.get(Self.key) == "dark")
        #expect(try await !router.exists(Self.old))
    }

    @Test("a load finds the value that was stored before the key's domain changed")
    func formerPlace() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let former = MigrationHome.key("theme", .userDefaults()) as StorageKey<String>
        let key = MigrationHome.key("theme", .fileSystem()) as StorageKey<String>
        try await home.router(version: "1.0").set("dark", for: former)
        let router = try home.router(version: "2.0")
        try await router.registerCatalog(PlaceChangeTests.Catalog(allKeys: [.key(key)]))
        let settings = Settings(router, key)
        try await settings.$theme.load()
        #expect(settings.theme == "dark")
        settings.theme = "light"
        try await settings.$theme.save()
        #expect(try await router.get(key) == "light")
        #expect(try await !home.router().resolve(former).exists())
    }

    @Test("a set before the load wins over the migrated value")
    func setBeforeMigration() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("dark", for: Self.old)
        let settings = Settings(router, Self.simple)
        settings.theme = "set"
        try await settings.$theme.save()
        #expect(settings.theme == "set")
        #expect(try await router.get(Self.key) == "set")
        #expect(try await !router.exists(Self.old))
    }

    @Test("while its migration fails, nothing is loaded, written, reported or lost")
    func failingMigration() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("dark", for: Self.old)
        let settings = Settings(router, Self.migrating())
        await #expect(throws: MigrationError.storageFailed) { try await settings.$theme.load() }
        #expect(settings.theme == "light" && !settings.$theme.isLoaded)
        settings.theme = "set"
        await #expect(throws: MigrationError.storageFailed) { try await settings.$theme.save() }
        await #expect(throws: MigrationError.storageFailed) { try await router.changes(of: Self.migrating()) }
        #expect(try await !router.exists(Self.key))
        #expect(try await router.get(Self.old) == "dark")
    }

    @Test("a watch of a key reports the migrated value, and not the migration")
    func watched() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("dark", for: Self.old)
        var iterator = try await router.changes(of: Self.simple).makeAsyncIterator()
        #expect(try await router.get(Self.key) == "dark")
        try await home.router().set("next", for: Self.key)
        #expect(try await iterator.next() == .some("next"))
    }

    @Test("a watch that could not begin does so after a load that succeeds")
    func watchAfterFailure() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("dark", for: Self.old)
        let isBroken = Counter()
        isBroken.add()
        let key = Self.migrating { router, _ in
            guard isBroken.value != 1 else { throw StorageError(.fileError, "the disk") }
            try await router.set(router.get(Self.old), for: Self.key)
            return MigrationResult(success: true)
        }
        let settings = Settings(router, key)
        var iterator = settings.$theme.changes.makeAsyncIterator()
        await #expect(throws: MigrationError.storageFailed) { try await settings.$theme.load() }
        isBroken.add()
        try await settings.$theme.load()
        #expect(await iterator.next() == "dark")
        while settings.theme == "dark" {
            try await home.router().set("elsewhere", for: Self.key)
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(await iterator.next() == "elsewhere")
    }
}
