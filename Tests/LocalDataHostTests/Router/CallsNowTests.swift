import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite("Calls without suspending") struct CallsNowTests {
    @Test(
        "the first use of a key opens its store; a value is read from memory or disk", arguments: MigrationHome.domains)
    func reads(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let key: StorageKey<String> = MigrationHome.key("name", domain)
        try await home.router().set("value", for: key)
        let router = try home.router()
        let fresh: StorageKey<String> = MigrationHome.key("name", domain)
        #expect(try router.getNow(fresh) == "value")
        try await router.set("other", for: fresh)
        #expect(try router.getNow(fresh) == "other")
        let absent: StorageKey<String> = MigrationHome.key("absent", domain)
        #expect(throws: StorageError.notFound) { try router.getNow(absent) }
    }

    @Test("a value of an earlier version is read in the current one, and stays as it is")
    func chained() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        try await home.router().set(Note.V1(text: "hello"), for: Note.old(Note.V1.self, "note", .fileSystem()))
        let router = try home.router()
        let key = try Note.key("note", .fileSystem())
        #expect(try router.getNow(key) == Note.V3(title: "hello", tags: []))
        #expect(try await router.attributes(of: AnyStorageKey(key))?.versionTag == nil)
    }

    @Test("a call that would wait for more than the disk throws an error that says so")
    func refused() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let old: StorageKey<String> = MigrationHome.key("old", .fileSystem())
        try await router.set("older", for: old)
        let key: StorageKey<String> = MigrationHome.key("new", .fileSystem()) { key in
            AnyStorageMigration(SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old)))
        }
        #expect(throws: StorageError.unsupported) { try router.getNow(key) }
        #expect(try await router.get(key) == "older")
        #expect(try router.getNow(key) == "older")
    }

    @Test("a value is stored and removed durably before the call returns", arguments: MigrationHome.domains)
    func changes(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let key: StorageKey<String> = MigrationHome.key("name", domain)
        let router = try home.router()
        #expect(try !router.removeNow(key))
        try router.setNow("value", for: key)
        #expect(try await home.router().get(MigrationHome.key("name", domain)) == "value")
        #expect(try router.removeNow(key))
        #expect(try !router.removeNow(key))
        #expect(try await !home.router().exists(key))
    }

    @Test("a change supersedes older data, like one that suspends")
    func superseding() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let old: StorageKey<String> = MigrationHome.key("old", .fileSystem())
        func key(_ name: String) -> StorageKey<String> {
            MigrationHome.key(name, .fileSystem()) { key in
                AnyStorageMigration(SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old)))
            }
        }
        try await router.set("older", for: old)
        try router.setNow("newer", for: key("set"))
        #expect(try await home.router().get(key("set")) == "newer")
        #expect(try !router.removeNow(key("removed")))
        await #expect(throws: StorageError.notFound) { try await home.router().get(key("removed")) }
    }

    @Test("a task of IOExecutor, which can await the change, is refused")
    func refusedOnExecutor() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let key: StorageKey<String> = MigrationHome.key("name", .fileSystem())
        await Task(executorPreference: IOExecutor.shared) {
            _ = #expect(throws: StorageError.unsupported) { try router.setNow("late", for: key) }
        }.value
        #expect(try await !router.exists(key))
    }

    @Test("all threads of Swift's pool may read at once")
    func manyAtOnce() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let domain = StorageDomain.encryptedFileSystem()
        for number in 0..<16 {
            try await home.router().set(number, for: MigrationHome.key("n\(number)", domain))
        }
        let router = try home.router()
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<16 {
                group.addTask { try router.getNow(MigrationHome.key("n\(number)", domain) as StorageKey<Int>) }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 120)
    }

    @Test("a property is loaded at a program's start")
    func property() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let key: StorageKey<String> = MigrationHome.key("theme", .fileSystem())
        try await home.router().set("dark", for: key)
        let stored = Stored(wrappedValue: "light", MigrationHome.key("theme", .fileSystem()), router: try home.router())
        try stored.projectedValue.loadNow()
        #expect(stored.wrappedValue == "dark")
        #expect(stored.projectedValue.isLoaded)
        let absent = Stored(wrappedValue: "light", MigrationHome.key("none", .fileSystem()), router: try home.router())
        try absent.projectedValue.loadNow()
        #expect(absent.wrappedValue == "light")
    }
}
