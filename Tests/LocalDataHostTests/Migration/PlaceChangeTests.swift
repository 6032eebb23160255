import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite("keys whose place changes with every release", .timeLimit(.minutes(3))) struct PlaceChangeTests {
    struct Catalog: StorageKeyCatalog {
        var name = "App"
        let allKeys: [AnyStorageKey]
    }

    private static let domains: [StorageDomain] = [
        .userDefaults(), .fileSystem(), .encryptedFileSystem(), .keychain(service: "tests"),
    ]

    private func key(_ domain: StorageDomain, name: String = "theme") -> StorageKey<String> {
        MigrationHome.key(name, domain)
    }

    private func number(_ domain: StorageDomain) -> StorageKey<Int> { MigrationHome.key("count", domain) }

    /// A release that has its key in a domain, with a catalog of it or without.
    private func release(
        _ home: MigrationHome, _ domain: StorageDomain, listed: Bool
    ) async throws -> (router: StorageRouter, key: StorageKey<String>) {
        let (router, key) = (try home.router(), key(domain))
        if listed { try await router.registerCatalog(Catalog(allKeys: [.key(key)])) }
        return (router, key)
    }

    /// How release 1 stores a value.
    enum Write: CaseIterable {
        case set, batch, property, migration, create, data
    }

    @Test(
        "a value is found after each change of its place, with reads only in between",
        arguments: Write.allCases, [true, false])
    func readsOnly(_ write: Write, _ isListed: Bool) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let first = try await release(home, .userDefaults(), listed: isListed)
        switch write {
        case .set: try await first.router.set("dark", for: first.key)
        case .batch: try await first.router.batch { try $0.set("dark", for: first.key) }
        case .property:
            let stored = StoredValue(first.key, default: "light", router: first.router)
            stored.value = "dark"
            try await stored.save()
        case .migration:
            let old = key(.custom(name: "rows"), name: "old theme")
            try await home.router().set("dark", for: old)
            let moving: StorageKey<String> = MigrationHome.key("theme", .userDefaults()) {
                .init(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(old)))
            }
            let router = try home.router()
            if isListed { try await router.registerCatalog(Catalog(allKeys: [.key(moving)])) }
            #expect(try await router.get(moving) == "dark")
        case .create: try await first.router.create("dark", for: first.key)
        case .data: try await first.router.setData(Data("\"dark\"".utf8), for: .key(first.key))
        }
        for domain in Self.domains.dropFirst() {
            let (router, key) = try await release(home, domain, listed: isListed)
            #expect(try await router.exists(key), "\(domain)")
            #expect(try await router.get(key) == "dark", "\(domain)")
        }
    }

    /// Release 3 has the key in another place, 4 where it was at first, 5 gives it another name there; a user skips 4.
    private func renamed(_ home: MigrationHome, _ write: String?) async throws -> (StorageRouter, StorageKey<String>) {
        let (first, third) = (key(.fileSystem()), key(.userDefaults()))
        try await home.router().set("one", for: first)
        let router = try home.router()
        if let write { try await router.set(write, for: third) } else { #expect(try await router.get(third) == "one") }
        let renamed: StorageKey<String> = MigrationHome.key("colour", .fileSystem()) {
            .init(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(first)))
        }
        let last = try home.router()
        try await last.registerCatalog(Catalog(allKeys: [.key(renamed)]))
        return (last, renamed)
    }

    @Test("a key that returned to a place and got another name in one upgrade has its last value, or says why not")
    func backAndRenamed() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let (router, key) = try await renamed(home, "three")
        do { #expect(try await router.get(key) == "three") } catch let error as MigrationError {
            #expect(error.code == .conflict && error.message.contains("userDefaults"), "\(error)")
        }
    }

    @Test("what such a key's removal ended does not come back", arguments: [true, false])
    func backAndRemoved(_ isReadBefore: Bool) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let (router, key) = try await renamed(home, nil)
        if isReadBefore { #expect(try await router.get(key) == "one") }
        try await router.set("five", for: key)
        #expect(try await router.remove(key) as Bool)
        await #expect(throws: StorageError.notFound) { try await router.get(key) }
        await #expect(throws: StorageError.notFound) { try await home.router().get(key) }
    }

    @Test("a key that was removed before its old name's value was brought has none at its next place either")
    func removedAndMoved() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let old = key(.userDefaults())
        func renamed(_ domain: StorageDomain) -> StorageKey<String> {
            MigrationHome.key("colour", domain) {
                .init(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(old)))
            }
        }
        try await home.router().set("dark", for: old)
        _ = try await home.router().remove(renamed(.userDefaults())) as Bool
        await #expect(throws: StorageError.notFound) { try await home.router().get(renamed(.fileSystem())) }
        #expect(try await !home.router().exists(renamed(.fileSystem())))
        // What an earlier release sets again is brought.
        try await home.router().set("light", for: old)
        #expect(try await home.router().get(renamed(.fileSystem())) == "light")
    }

    @Test("a key goes back to a place where it was, and has its last value", arguments: [true, false])
    func back(_ isListed: Bool) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let first = try await release(home, .userDefaults(), listed: isListed)
        try await first.router.set("one", for: first.key)
        let second = try await release(home, .fileSystem(), listed: isListed)
        #expect(try await second.router.get(second.key) == "one")
        let third = try await release(home, .userDefaults(), listed: isListed)
        #expect(try await third.router.get(third.key) == "one")
        try await third.router.set("three", for: third.key)
        let fourth = try await release(home, .fileSystem(), listed: isListed)
        #expect(try await fourth.router.get(fourth.key) == "three")
    }

    @Test("a later value at another place is never passed over for an older one", arguments: [true, false])
    func stale(_ isRead: Bool) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let first = try await release(home, .userDefaults(), listed: false)
        try await first.router.set("old", for: first.key)
        let second = try await release(home, .fileSystem(), listed: false)
        if isRead { #expect(try await second.router.get(second.key) == "old") }
        try await second.router.set("new", for: second.key)
        // Without a catalog, nothing shows whether these are two keys.
        let unlisted = try await release(home, .userDefaults(), listed: false)
        let error = await MigrationError.of { try await unlisted.router.get(unlisted.key) }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("userDefaults/theme") == true)
        #expect(error?.message.contains("fileSystem:documents/theme") == true)
        #expect(throws: MigrationError.conflict) { try unlisted.router.getNow(unlisted.key) }
        let listed = try await release(home, .userDefaults(), listed: true)
        #expect(try await listed.router.get(listed.key) == "new")
        #expect(try await listed.router.get(listed.key) == "new")
        try await listed.router.migrations.rollback(of: listed.key)
        #expect(try await home.router().get(second.key) == "new")
    }

    @Test("after a downgrade and an upgrade, what was stored last counts, also if it is what was stored before")
    func downgrade() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let first = try await release(home, .userDefaults(), listed: true)
        try await first.router.set("a", for: first.key)
        let second = try await release(home, .fileSystem(), listed: true)
        try await second.router.set("b", for: second.key)
        let again = try await release(home, .userDefaults(), listed: true)
        #expect(try await again.router.get(again.key) == "b")
        try await again.router.set("a", for: again.key)
        let upgraded = try await release(home, .fileSystem(), listed: true)
        #expect(try await upgraded.router.get(upgraded.key) == "a")
    }

    @Test("a sub-directory that changes twice, with reads only, hides no value", arguments: [true, false])
    func subDirectories(_ isListed: Bool) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        for (index, directory) in [nil, "one", "two/three", nil].enumerated() {
            let (router, key) = try await release(home, .fileSystem(), listed: isListed)
            await router.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: directory))
            if index == 0 { try await router.set("kept", for: key) }
            #expect(try await router.get(key) == "kept", "\(directory ?? "none")")
        }
    }

    @Test("a helper of the same app without a catalog finds a value that has not moved yet")
    func helper() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let first = try await release(home, .userDefaults(), listed: true)
        try await first.router.set("dark", for: first.key)
        // Release 2 registers its catalog, and reads nothing.
        _ = try await release(home, .fileSystem(), listed: true)
        let helper = try await release(home, .fileSystem(), listed: false)
        #expect(try await helper.router.get(helper.key) == "dark")
    }

    @Test("from plain to encrypted and back to plain: the value, or an error that names where it is")
    func protection() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let first = try await release(home, .userDefaults(), listed: false)
        try await first.router.set("plain", for: first.key)
        let second = try await release(home, .encryptedFileSystem(), listed: false)
        #expect(try await second.router.get(second.key) == "plain")
        try await second.router.set("secret", for: second.key)
        for isListed in [false, true] {
            let third = try await release(home, .userDefaults(), listed: isListed)
            let error = await MigrationError.of { try await third.router.get(third.key) }
            #expect(error?.message.contains("encryptedFileSystem:documents/theme") == true, "\(isListed)")
        }
    }

    @Test("reading a key that was never stored takes nothing from a key of the same name")
    func readingTakesNothing() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        try await home.router().set("hello", for: key(.userDefaults()))
        try await home.router().set(5, for: number(.userDefaults()))
        #expect(try await home.router().get(key(.fileSystem())) == "hello")
        #expect(try await home.router().get(key(.userDefaults())) == "hello")
        #expect(try await home.router().update(number(.fileSystem())) { $0 = ($0 ?? 0) + 1 } == 6)
        // The first counter is still there, and listing both shows that they are two.
        let router = try home.router()
        try await router.registerCatalog(
            Catalog(allKeys: [.key(number(.userDefaults())), .key(number(.fileSystem()))]))
        #expect(try await router.get(number(.userDefaults())) == 5)
        #expect(try await router.get(number(.fileSystem())) == 6)
    }

    @Test("two keys of one name that a process uses side by side stay two, whichever is stored last")
    func sideBySide() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let (first, second) = (key(.userDefaults()), key(.fileSystem()))
        let router = try home.router()
        try await router.set("first", for: first)
        try await router.set("second", for: second)
        #expect(try await home.router().get(first) == "first")
        try await home.router().set("changed", for: first)
        #expect(try await home.router().get(second) == "second")
        try await home.router().remove(first)
        await #expect(throws: StorageError.notFound) { try await home.router().get(first) }
    }

    @Test("a removed value does not come back from a copy at a former place", arguments: [true, false])
    func removal(_ isListed: Bool) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let first = try await release(home, .userDefaults(), listed: isListed)
        try await first.router.set("value", for: first.key)
        let second = try await release(home, .fileSystem(), listed: isListed)
        #expect(try await second.router.get(second.key) == "value")
        try await second.router.remove(second.key)
        for domain in [StorageDomain.fileSystem(), .custom(name: "rows")] {
            let (router, key) = try await release(home, domain, listed: isListed)
            #expect(try await !router.exists(key), "\(domain)")
            await #expect(throws: StorageError.notFound, "\(domain)") { try await router.get(key) }
        }
    }

    @Test("without suspending, a key that was removed or has expired is absent, as it is to 'get'")
    func now() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let key = key(.userDefaults())
        let router = try home.router()
        try await router.set("value", for: key)
        try await router.remove(key)
        for router in [router, try home.router()] {
            #expect(throws: StorageError.notFound) { try router.getNow(key) }
            let stored = StoredValue(key, default: "light", router: router)
            try stored.loadNow()
            #expect(stored.value == "light")
        }
        try await router.set("value", for: key, expires: Date(timeIntervalSinceNow: -1))
        #expect(throws: StorageError.notFound) { try home.router().getNow(key) }
        // What still has to be brought is no reason to show a default.
        try await home.router().set("elsewhere", for: key)
        let moved = try await release(home, .fileSystem(), listed: false)
        let error = #expect(throws: StorageError.self) { try moved.router.getNow(moved.key) }
        #expect(error?.code == .unsupported)
    }

    @Test("an absent key is absent without suspending beside migrations of other keys")
    func nowBesideMigrations() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let old = key(.custom(name: "rows"), name: "old")
        let migrated: StorageKey<String> = MigrationHome.key("migrated", .userDefaults()) {
            .init(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(old)))
        }
        let router = try home.router()
        let other = key(.userDefaults(), name: "other")
        try await router.registerCatalog(Catalog(allKeys: [.key(migrated), .key(other)]))
        #expect(throws: StorageError.notFound) { try router.getNow(other) }
        #expect(throws: StorageError.notFound) { try router.getNow(migrated) }
        try await home.router().set("value", for: old)
        #expect(throws: StorageError.unsupported) { try router.getNow(migrated) }
        #expect(try await router.get(migrated) == "value")
        try await router.remove(migrated)
        #expect(throws: StorageError.notFound) { try router.getNow(migrated) }
    }

    @Test("a key's own later value elsewhere counts before what its migration would bring")
    func renamedAndMoved() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let first = key(.userDefaults(), name: "first")
        func second(_ domain: StorageDomain) -> StorageKey<String> {
            MigrationHome.key("second", domain) {
                .init(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(first)))
            }
        }
        try await home.router().set("old", for: first)
        try await home.router().set("new", for: second(.fileSystem()))
        #expect(try await home.router().get(second(.custom(name: "rows"))) == "new")
    }

    @Test("a user who leaves out a release, or restores a backup of an earlier one, has the values of before")
    func skipped() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        // Release 1 has the first key; release 2 would bring it to the second, and release 3 that one to the third.
        let first = key(.userDefaults(), name: "first")
        let second: StorageKey<String> = MigrationHome.key("second", .userDefaults()) {
            .init(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(first)))
        }
        let third: StorageKey<String> = MigrationHome.key("third", .fileSystem()) {
            .init(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(second)))
        }
        try await home.router().set("value", for: first)
        let router = try home.router()
        // The catalog of release 3 no longer lists the second key.
        try await router.registerCatalog(Catalog(allKeys: [.key(third)]))
        #expect(try await router.get(third) == "value")
    }

    @Test("a removal before anything was read is about the value at the former place", arguments: [true, false])
    func removedUnread(_ isListed: Bool) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let first = try await release(home, .userDefaults(), listed: isListed)
        try await first.router.set("value", for: first.key)
        let second = try await release(home, .fileSystem(), listed: isListed)
        try await second.router.remove(second.key)
        let third = try await release(home, .keychain(service: "tests"), listed: isListed)
        await #expect(throws: StorageError.notFound) { try await third.router.get(third.key) }
    }

    @Test("a key whose policy changed before its place is opened as its value is", arguments: [true, false])
    func policies(_ isSealedFirst: Bool) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        func place(_ domain: StorageDomain, isSealed: Bool) -> StorageKey<String> {
            StorageKey(
                name: "theme", domain: domain, security: isSealed ? .recommended : .none, owner: "tests",
                description: "a key")
        }
        let rows = StorageDomain.custom(name: "rows")
        let router = try home.router()
        try await router.registerCatalog(Catalog(allKeys: [.key(place(rows, isSealed: isSealedFirst))]))
        try await home.router().set("value", for: place(rows, isSealed: !isSealedFirst))
        #expect(try await home.router().get(place(.fileSystem(), isSealed: true)) == "value")
    }

    @Test("a key that returns, sealed, to where it was plain has its later value")
    func sealedSince() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        func key(_ domain: StorageDomain, _ policy: SecurityPolicy) -> StorageKey<String> {
            StorageKey(name: "theme", domain: domain, security: policy, owner: "tests", description: "a key")
        }
        let rows = StorageDomain.custom(name: "rows")
        for (domain, policy, value) in [
            (rows, SecurityPolicy.none, "first"), (.fileSystem(), .recommended, "second"), (rows, .recommended, nil),
        ] {
            let router = try home.router()
            try await router.registerCatalog(Catalog(allKeys: [.key(key(domain, policy))]))
            if let value { try await router.set(value, for: key(domain, policy)) }
        }
        let router = try home.router()
        try await router.registerCatalog(Catalog(allKeys: [.key(key(rows, .recommended))]))
        #expect(try await router.get(key(rows, .recommended)) == "second")
    }

    @Test("another owner's key at the same address is an error that names both, and changes nothing")
    func owners() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        func owned<Value>(_ owner: String) -> StorageKey<Value> {
            StorageKey(
                name: "theme", domain: .userDefaults(suite: "shared"), security: .none, owner: owner,
                description: "a key")
        }
        let (own, foreign): (StorageKey<String>, StorageKey<Int>) = (owned("Appearance"), owned("Other"))
        try await home.router().set("dark", for: own)
        let router = try home.router()
        for attempt: () async throws -> Void in [
            { _ = try await router.get(foreign) }, { try await router.set(7, for: foreign) },
            { try await router.remove(foreign) }, { _ = try await router.exists(foreign) },
            { try await router.batch { try $0.set(7, for: foreign) } }, { _ = try router.getNow(foreign) },
            { _ = try await router.update(foreign) { $0 = 7 } },
        ] {
            let error = await #expect(throws: StorageError.self) { try await attempt() }
            #expect(error?.code == .conflict)
            #expect(error?.message.contains("Appearance") == true && error?.message.contains("Other") == true)
        }
        #expect(try await home.router().get(own) == "dark")
        // An owner that was renamed takes its keys along by its catalog.
        let renamed: StorageKey<String> = owned("Look")
        let listed = try home.router()
        try await listed.registerCatalog(Catalog(allKeys: [.key(renamed)]))
        #expect(try await listed.get(renamed) == "dark")
        try await listed.remove(renamed)
        // What is gone belongs to nobody.
        try await home.router().set(7, for: foreign)
    }
}
