import FoundationEssentials
import LocalDataAPI
import Testing

@testable import LocalDataHost

@Suite("keys that have moved without a migration", .timeLimit(.minutes(3))) struct FormerPlaceTests {
    private struct Catalog: StorageKeyCatalog {
        var name = "Catalog"
        let allKeys: [AnyStorageKey]
    }

    private func key(_ domain: StorageDomain, name: String = "token") -> StorageKey<String> {
        MigrationHome.key(name, domain)
    }

    private func folder(_ home: MigrationHome) -> StorageDomain {
        .fileSystem(directory: .custom(URL(filePath: "\(home.home.folder)/elsewhere", directoryHint: .isDirectory)))
    }

    @Test("seed defect 21: a changed domain or directory is a planned migration, which can be undone")
    func domains() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let domains: [StorageDomain] = [
            .userDefaults(), .userDefaults(suite: "suite"), .custom(name: "rows"), .fileSystem(),
            .fileSystem(directory: .caches), folder(home), .appGroupFileSystem(), .keychain(service: "tests"),
            .encryptedFileSystem(directory: .caches), .keychain(service: "others"), .encryptedFileSystem(),
        ]
        for (index, (old, new)) in zip(domains, domains.dropFirst()).enumerated() {
            let (former, current) = (key(old, name: "\(index)"), key(new, name: "\(index)"))
            try await home.router(version: "1.0").set("value", for: former)
            let router = try home.router(version: "2.0")
            #expect(try await router.get(current) == "value", "\(old) to \(new)")
            #expect(try await !router.exists(former), "\(old) to \(new)")
            let record = try #require(try await router.migrationHistory(for: current).first)
            #expect(record.id.hasPrefix("moved from ") && record.state == .clean, "\(record)")
            let before = home.files
            let again = try home.router()
            #expect(try await again.get(current) == "value")
            #expect(home.files == before)
            try await again.rollbackMigration(of: current)
            #expect(try await again.get(former) == "value", "\(old) to \(new)")
            #expect(try await !again.exists(current), "\(old) to \(new)")
        }
    }

    @Test("a key moves between folders of a database that keeps each by itself, and back")
    func databases() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let domains: [StorageDomain] = [
            .custom(name: "rows"), .fileSystem(directory: .caches), .fileSystem(), folder(home), .appGroupFileSystem(),
            .userDefaults(), .fileSystem(directory: .caches),
        ]
        for (index, (old, new)) in zip(domains, domains.dropFirst()).enumerated() {
            let (former, current) = (key(old, name: "\(index)"), key(new, name: "\(index)"))
            try await home.databases().set("value", for: former)
            let router = try home.databases()
            #expect(try await router.get(current) == "value", "\(old) to \(new)")
            #expect(try await !router.exists(former), "\(old) to \(new)")
            #expect(try await router.migrationHistory(for: current).map(\.state) == [.clean], "\(old) to \(new)")
            try await home.databases().rollbackMigration(of: current)
            #expect(try await router.get(former) == "value", "\(old) to \(new)")
            #expect(try await !router.exists(current), "\(old) to \(new)")
        }
    }

    @Test("seed defect 21: a changed sub-directory, or a changed place of the master keys, loses nothing")
    func settings() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let domains: [StorageDomain] = [.fileSystem(), .fileSystem(directory: .caches), .encryptedFileSystem()]
        for (index, domain) in domains.enumerated() {
            let key = key(domain, name: "\(index)")
            let first = try home.router()
            try await first.set("value", for: key)
            let router = try home.router()
            await router.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: "new/folder"))
            #expect(try await router.get(key) == "value", "\(domain)")
            #expect(try await router.migrationHistory(for: key).count == 1)
            // It has gone from where it was.
            await #expect(throws: StorageError.notFound) { try await first.get(key) }
            await router.updateEncryptionConfiguration(
                EncryptionConfiguration(masterKeyService: "other service", masterKeyAccount: "other account"))
            #expect(try await router.get(key) == "value", "\(domain)")
            try await router.set("sealed anew", for: key)
            #expect(try await router.get(key) == "sealed anew", "\(domain)")
        }
    }

    @Test("seed defect 21: what is in the way is said, and is never notFound")
    func obstacles() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        try await home.router().set("secret", for: key(.keychain(service: "tests")))
        let router = try home.router()
        let weaker = await MigrationError.of { try await router.get(key(.userDefaults())) }
        #expect(weaker?.code == .validationFailed && weaker?.message.contains("would keep its data plain") == true)
        try await home.router().set("other", for: key(.encryptedFileSystem()))
        let ambiguous = try home.router()
        let two = await MigrationError.of { try await ambiguous.get(key(.keychain(service: "new"))) }
        #expect(two?.code == .conflict && two?.message.contains("keychain:tests/token") == true)
        #expect(two?.message.contains("encryptedFileSystem:documents/token") == true)
        // With a catalog it is known that the key is the same, though its type is another.
        let number: StorageKey<Int> = MigrationHome.key("token", .keychain(service: "new"))
        let listed = try home.router()
        try await listed.remove(key(.encryptedFileSystem()))
        try await listed.registerCatalog(Catalog(allKeys: [.key(number)]))
        let typed = await MigrationError.of { try await listed.get(number) }
        #expect(typed?.code == .incompatibleTypes && typed?.message.contains("String") == true)
        #expect(try await home.router().get(key(.keychain(service: "tests"))) == "secret")
    }

    @Test("what a router has written itself is another key's in another domain, and the key's own in another folder")
    func current() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("first", for: key(.userDefaults()))
        await #expect(throws: StorageError.notFound) { try await router.get(key(.fileSystem())) }
        #expect(try await router.get(key(.userDefaults())) == "first")
        try await router.set("second", for: key(.fileSystem(), name: "notes"))
        await router.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: "new"))
        #expect(try await router.get(key(.fileSystem(), name: "notes")) == "second")
    }

    @Test("a value of another key that has the same name stays where it is")
    func others() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let (first, second) = (key(.userDefaults()), key(.fileSystem()))
        try await home.router().set("first", for: first)
        let catalogued = try home.router()
        try await catalogued.registerCatalog(Catalog(allKeys: [.key(first), .key(second)]))
        await #expect(throws: StorageError.notFound) { try await catalogued.get(second) }
        // Both have been written before, and nobody says that one of them is gone.
        try await home.router().set("second", for: second)
        try await home.router().remove(first)
        await #expect(throws: StorageError.notFound) { try await home.router().get(first) }
        #expect(try await home.router().get(second) == "second")
        let owned = StorageKey<String>(
            name: "token", domain: .custom(name: "rows"), security: .none, owner: "somebody else", description: "a key")
        await #expect(throws: StorageError.notFound) { try await home.router().get(owned) }
    }

    @Test("a history that is damaged is read as far as it can be")
    func damaged() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        try await home.router().set("value", for: key(.userDefaults()))
        let file = try #require(home.home.files().keys.first { $0.hasSuffix("places.jsonl") })
        let path = "\(home.home.folder)/\(file)"
        var lines = try Data(contentsOf: URL(filePath: path))
        lines = Data([0, 0xff, 10]) + Data("{\"owner\":\"tests\"\n\n".utf8) + lines + Data("{\"own".utf8)
        try lines.write(to: URL(filePath: path))
        #expect(try await home.router().get(key(.fileSystem())) == "value")
    }
}
