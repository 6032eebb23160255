import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostMigration
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
            .userDefaults(), .custom(name: "rows"), .userDefaults(suite: "suite"), .fileSystem(),
            .fileSystem(directory: .caches), .appGroupFileSystem(), folder(home), .keychain(service: "tests"),
            .encryptedFileSystem(directory: .caches), .keychain(service: "others"), .encryptedFileSystem(),
        ]
        for (index, (old, new)) in zip(domains, domains.dropFirst()).enumerated() {
            let (former, current) = (key(old, name: "\(index)"), key(new, name: "\(index)"))
            try await home.router(version: "1.0").set("value", for: former)
            let router = try home.router(version: "2.0")
            try await router.registerCatalog(Catalog(allKeys: [.key(current)]))
            #expect(try await router.get(current) == "value", "\(old) to \(new)")
            #expect(try await !home.router().resolve(former).exists(), "\(old) to \(new)")
            let record = try #require(try await router.migrationHistory(for: current).first)
            #expect(record.id.hasPrefix("moved from ") && record.state == .clean, "\(record)")
            let before = home.files
            let again = try home.router()
            #expect(try await again.get(current) == "value")
            #expect(home.files == before)
            try await again.migrations.rollback(of: current)
            #expect(try await again.get(former) == "value", "\(old) to \(new)")
            #expect(try await !again.exists(current), "\(old) to \(new)")
        }
    }

    @Test(
        "an app's migration is one whatever its id begins with: what it would bring is ignored after a set and a removal",
        arguments: ["scripted", "moved from userDefaults/v1", "container userDefaults/Settings 2", "versions of token"])
    func likeAnotherOrigin(id: String) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let old = key(.userDefaults(), name: "older")
        try await home.router().set("older", for: old)
        let current: StorageKey<String> = MigrationHome.key("token", .custom(name: "rows")) { key in
            AnyStorageMigration(
                ScriptedMigration(destinationKey: key, id: id, sources: [.key(old)]) { router, _ in
                    try await router.set(try await router.get(old), for: key)
                    return MigrationResult(success: true, migratedCount: 1)
                })
        }
        let router = try home.router()
        try await router.set("later", for: current)
        try await router.remove(current)
        #expect(try await router.value(of: current) == nil)
        #expect(try await home.router().value(of: current) == nil)
    }

    @Test("seed defect 21: a changed domain is in the plan, the status and a diagnosis, and a full run moves it")
    func planned() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let (former, current) = (key(.userDefaults()), key(.fileSystem()))
        try await home.router().set("value", for: former)
        func router() async throws -> StorageRouter {
            let router = try home.router()
            try await router.registerCatalog(Catalog(allKeys: [.key(current)]))
            return router
        }
        let id = "moved from userDefaults/token"
        for selection in [MigrationSelection.all, .only(id)] {
            let entry = try #require(try await router().migrations.plan(selection).entries.first)
            #expect(entry.migration == id && entry.decision == .run && entry.removes.map(\.size) == [7], "\(entry)")
        }
        let status = try await router().migrations.status().migrations
        #expect(status.map(\.migration) == [id] && status.allSatisfy { $0.needsAttention && $0.next == .run })
        let diagnosed = try await router()
        let found = await Diagnosis.run { diagnosed }.filter(\.isProblem)
        #expect(
            found.map(\.text) == [
                "'fileSystem:documents/token' has no value; it is still where it was before the key's location "
                    + "changed: userDefaults/token"
            ])
        #expect(found.map(\.hint) == ["run: ld-host migrate run"])
        #expect(try await router().migrate().entries.map(\.outcome) == [.migrated])
        #expect(try await home.router().exists(current))
        #expect(try await router().migrations.status().migrations.map(\.needsAttention) == [false])
        let well = try await router()
        #expect(await Diagnosis.run { well }.filter(\.isProblem).isEmpty)
        try await home.router().migrations.rollback(of: current)
        #expect(try await home.router().get(former) == "value")
    }

    @Test("a key with values in two locations is a conflict in the plan, and does not block other moves")
    func plannedConflict() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        try await home.router().set("one", for: key(.userDefaults()))
        try await home.router().set("two", for: key(.custom(name: "rows")))
        try await home.router().set("other", for: key(.userDefaults(), name: "zebra"))
        let router = try home.router()
        try await router.registerCatalog(
            Catalog(allKeys: [.key(key(.fileSystem())), .key(key(.fileSystem(), name: "zebra"))]))
        let entries = try await router.migrations.plan().entries
        #expect(entries.map(\.decision) == [.run, .refused])
        #expect(entries.last?.why.contains("userDefaults/token") == true && entries.last?.error != nil)
        #expect(await Diagnosis.run { router }.contains { $0.isProblem && $0.text.contains("rows/token") })
        let status = try await router.migrations.status().migrations
        #expect(
            status.filter(\.needsAttention).map(\.migration)
                == ["moved from userDefaults/zebra", "moved to fileSystem:documents/token"], "\(status)")
        let report = try await router.migrate()
        #expect(report.entries.map(\.outcome) == [.migrated, .failed])
        #expect(report.failures.first?.error?.code == .conflict)
    }

    @Test(
        "a key that was set or removed at its new location does not get its old value",
        arguments: [true, false])
    func superseded(_ isCatalogued: Bool) async throws {
        for isSet in [true, false] {
            let home = try MigrationHome()
            defer { home.remove() }
            let (former, current) = (key(.userDefaults()), key(.keychain(service: "tests")))
            try await home.router().set("value", for: former)
            func router() async throws -> StorageRouter {
                let router = try home.router()
                if isCatalogued { try await router.registerCatalog(Catalog(allKeys: [.key(current)])) }
                return router
            }
            if isSet { try await router().set("new", for: current) }
            try await router().remove(current)
            for _ in 0..<2 { await #expect(throws: StorageError.notFound) { try await router().get(current) } }
            #expect(try await router().forceMigration(for: current).outcome != .migrated)
            // Without a catalog, a key that is still in use may have the former place.
            let left = isCatalogued ? nil : "value"
            #expect(try await home.router().value(of: former) == left)
        }
    }

    @Test("a key moves between folders that a database store keeps apart, and back")
    func databases() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let domains: [StorageDomain] = [
            .custom(name: "rows"), .fileSystem(directory: .caches), .fileSystem(), .appGroupFileSystem(), folder(home),
            .userDefaults(), .fileSystem(directory: .caches),
        ]
        for (index, (old, new)) in zip(domains, domains.dropFirst()).enumerated() {
            let (former, current) = (key(old, name: "\(index)"), key(new, name: "\(index)"))
            try await home.databases().set("value", for: former)
            let router = try home.databases()
            try await router.registerCatalog(Catalog(allKeys: [.key(current)]))
            #expect(try await router.get(current) == "value", "\(old) to \(new)")
            #expect(try await !home.databases().resolve(former).exists(), "\(old) to \(new)")
            #expect(try await router.migrationHistory(for: current).map(\.state) == [.clean], "\(old) to \(new)")
            let again = try home.databases()
            try await again.migrations.rollback(of: current)
            #expect(try await again.get(former) == "value", "\(old) to \(new)")
            #expect(try await !again.exists(current), "\(old) to \(new)")
        }
    }

    @Test("seed defect 21: a changed sub-directory, or a changed location of the master keys, loses nothing")
    func settings() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let domains: [StorageDomain] = [.fileSystem(), .fileSystem(directory: .caches), .encryptedFileSystem()]
        for (index, domain) in domains.enumerated() {
            let key = key(domain, name: "\(index)")
            let first = try home.router()
            try await first.set("value", for: key)
            let router = try home.router()
            try await router.registerCatalog(Catalog(allKeys: [.key(key)]))
            await router.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: "new/folder"))
            #expect(try await router.get(key) == "value", "\(domain)")
            #expect(try await router.migrationHistory(for: key).count == 1)
            // The value has left its old location.
            #expect(try await !first.resolve(key).exists())
            await router.updateEncryptionConfiguration(
                EncryptionConfiguration(masterKeyService: "other service", masterKeyAccount: "other account"))
            #expect(try await router.get(key) == "value", "\(domain)")
            try await router.set("re-encrypted", for: key)
            #expect(try await router.get(key) == "re-encrypted", "\(domain)")
        }
    }

    @Test("seed defect 21: the obstacle is reported, and never as notFound")
    func obstacles() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        try await home.router().set("secret", for: key(.keychain(service: "tests")))
        let router = try home.router()
        let weaker = await MigrationError.of { try await router.get(key(.userDefaults())) }
        #expect(weaker?.code == .validationFailed && weaker?.message.contains("would store its data plain") == true)
        try await home.router().set("other", for: key(.encryptedFileSystem()))
        let ambiguous = try home.router()
        let two = await MigrationError.of { try await ambiguous.get(key(.appGroupFileSystem())) }
        #expect(two?.code == .conflict && two?.message.contains("keychain:tests/token") == true)
        #expect(two?.message.contains("encryptedFileSystem:documents/token") == true)
        // The catalog shows that the key is the same, though its type differs.
        let number: StorageKey<Int> = MigrationHome.key("token", .appGroupFileSystem())
        let listed = try home.router()
        try await listed.remove(key(.encryptedFileSystem()))
        try await listed.registerCatalog(Catalog(allKeys: [.key(number)]))
        let typed = await MigrationError.of { try await listed.get(number) }
        #expect(typed?.code == .incompatibleTypes && typed?.message.contains("String") == true)
        #expect(try await home.router().get(key(.keychain(service: "tests"))) == "secret")
    }

    @Test("a value in current use belongs to another key in another domain, and to the same key in another folder")
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
        // Both have been written before, and nothing shows that one of the keys was replaced.
        try await home.router().set("second", for: second)
        try await home.router().remove(first)
        await #expect(throws: StorageError.notFound) { try await home.router().get(first) }
        #expect(try await home.router().get(second) == "second")
        let owned = StorageKey<String>(
            name: "token", domain: .custom(name: "rows"), security: .none, owner: "somebody else", description: "a key")
        await #expect(throws: StorageError.notFound) { try await home.router().get(owned) }
    }

    @Test("a suite, a service, a group or a folder never gets the value of another", arguments: [true, false])
    func named(_ isCatalogued: Bool) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        func folder(_ name: String) -> FileDirectory {
            .custom(URL(filePath: "\(home.home.folder)/\(name)", directoryHint: .isDirectory))
        }
        let pairs: [(StorageDomain, StorageDomain)] = [
            (.keychain(service: "git:https://a.example"), .keychain(service: "git:https://b.example")),
            (.userDefaults(), .userDefaults(suite: "second profile")),
            (.userDefaults(suite: "one"), .userDefaults(suite: "two")),
            (.appGroupUserDefaults(identifier: "group.a"), .appGroupUserDefaults(identifier: "group.b")),
            (.appGroupFileSystem(id: "group.a"), .appGroupFileSystem(id: "group.b", directory: .caches)),
            (.custom(name: "rows", scope: "one"), .custom(name: "rows", scope: "two")),
            (.fileSystem(directory: folder("a")), .fileSystem(directory: folder("b"))),
            (.fileSystem(), .fileSystem(directory: folder("c"))),
        ]
        for (index, (mine, yours)) in pairs.enumerated() {
            let (mine, yours) = (key(mine, name: "\(index)"), key(yours, name: "\(index)"))
            try await home.router().set("mine", for: mine)
            let router = try home.router()
            if isCatalogued { try await router.registerCatalog(Catalog(allKeys: [.key(yours)])) }
            await #expect(throws: StorageError.notFound) { try await router.get(yours) }
            try await router.remove(yours)
            #expect(try await home.router().get(mine) == "mine")
        }
    }

    @Test("a service or a group that the configuration names may change")
    func defaults() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        for (index, domain) in [StorageDomain.keychain(), .appGroupUserDefaults()].enumerated() {
            let key = key(domain, name: "\(index)")
            func router(_ name: String) async throws -> StorageRouter {
                let router = try home.router()
                await router.updateStorageConfiguration(
                    StorageConfiguration(defaultKeychainService: name, defaultAppGroupIdentifier: "group.\(name)"))
                return router
            }
            try await router("old").set("value", for: key)
            #expect(try await router("new").get(key) == "value")
        }
    }

    @Test("a damaged history is read as far as possible")
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
