import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostMigration
@testable import HostStores
@testable import LocalDataHost

@Suite("undoing migrations", .timeLimit(.minutes(3))) struct MigrationRollbackTests {
    private let source: StorageKey<String> = MigrationHome.key("old", .keychain(service: "tests"))

    private func key() -> StorageKey<String> {
        MigrationHome.key("new", .encryptedFileSystem()) { [source] in
            AnyStorageMigration(
                SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(source), conflictPolicy: .takeSource))
        }
    }

    private func isImageKept(_ home: MigrationHome) -> Bool { home.files.keys.contains { $0.contains("image") } }

    @Test("seed defect 19: a rollback restores all values that a migration replaced or removed")
    func undone() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        try await home.router(version: "1.0").set("secret old", for: source)
        let router = try home.router(version: "2.0")
        let key = key()
        try await router.set("secret new", for: key)
        #expect(try await router.forceMigration(for: key).outcome == .migrated)
        #expect(try await router.get(key) == "secret old")
        #expect(try await !router.exists(source))
        #expect(isImageKept(home) && !home.home.contains("secret old") && !home.home.contains("secret new"))
        try await router.migrations.rollback(of: key)
        #expect(try await router.get(key) == "secret new")
        #expect(try await router.get(source) == "secret old")
        #expect(try await router.attributes(of: .key(source))?.appVersion == "1.0")
        #expect(try await router.migrationHistory(for: key).map(\.state) == [.rolledBack])
        #expect(!isImageKept(home))
        await #expect(throws: MigrationError.validationFailed) { try await router.migrations.rollback(of: key) }
        // The migration can run again.
        #expect(try await router.forceMigration(for: key).outcome == .migrated)
        #expect(try await router.get(key) == "secret old")
    }

    @Test(
        "a rollback restores the attributes of unsealed values",
        arguments: [.fileSystem(), .custom(name: "rows")] as [StorageDomain])
    func recorded(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let source: StorageKey<String> = MigrationHome.key("old", domain)
        let key: StorageKey<String> = MigrationHome.key("new", domain) {
            AnyStorageMigration(
                SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(source), conflictPolicy: .takeSource))
        }
        try await home.router(version: "1.0").set("old", for: source)
        try await home.router(version: "1.5").set("new", for: key)
        let router = try home.router(version: "2.0")
        let before = [
            try await router.attributes(of: .key(source))?.kept, try await router.attributes(of: .key(key))?.kept,
        ]
        #expect(before.map { $0?.appVersion } == ["1.0", "1.5"])
        #expect(try await router.forceMigration(for: key).outcome == .migrated)
        try await router.migrations.rollback(of: key)
        #expect(try await router.get(source) == "old")
        #expect(try await router.get(key) == "new")
        #expect(try await router.attributes(of: .key(source))?.kept == before[0])
        #expect(try await router.attributes(of: .key(key))?.kept == before[1])
    }

    @Test("a value that has changed since is not overwritten")
    func changed() async throws {
        for changesSource in [false, true] {
            let home = try MigrationHome()
            defer { home.remove() }
            let router = try home.router()
            let key = key()
            try await router.set("data", for: source)
            #expect(try await router.get(key) == "data")
            try await router.set("changed", for: changesSource ? source : key)
            let before = home.files
            await #expect(throws: MigrationError.validationFailed) { try await router.migrations.rollback(of: key) }
            #expect(home.files == before)
        }
    }

    @Test("a confirmed migration is final, and no old values are kept")
    func confirmed() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let key = key()
        try await router.set("data", for: source)
        #expect(try await router.get(key) == "data")
        #expect(isImageKept(home))
        try await router.migrations.confirm(of: key)
        #expect(!isImageKept(home))
        await #expect(throws: MigrationError.validationFailed) { try await router.migrations.rollback(of: key) }
        #expect(try await router.get(key) == "data")
    }

    @Test("the next run of a migration removes the values that an earlier run kept")
    func again() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let key = key()
        for value in ["first", "second", "third"] {
            try await router.set(value, for: source)
            #expect(try await router.forceMigration(for: key).outcome == .migrated)
            #expect(try await router.get(key) == value)
        }
        // The images of the last run: the source, and the value that it replaced.
        #expect(home.files.keys.filter { $0.contains("image") }.count == 2)
        try await router.migrations.rollback(of: key)
        #expect(try await router.get(key) == "second")
        #expect(try await router.get(source) == "third")
    }

    @Test("without a grace period nothing is ever kept")
    func noGrace() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router(version: nil, "migrations: { grace: 0 }")
        try await router.set("data", for: source)
        #expect(try await router.get(key()) == "data")
        #expect(!isImageKept(home))
    }

    @Test("the next run removes kept values whose time is over")
    func expired() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let key = key()
        try await router.set("data", for: source)
        #expect(try await router.get(key) == "data")
        let resolved = try await router.resolve(KeyReference(AnyStorageKey.key(key)))
        let ledger = try Ledger(try await router.access(), of: resolved)
        var page = try await ledger.page()
        var row = try #require(page.rows.first)
        let expires = try #require(row.expires)
        #expect(!row.isExpired(at: expires - 1) && row.isExpired(at: expires))
        #expect(abs(expires - Ledger.now - 7 * 86_400 * 1_000_000_000) < 120 * 1_000_000_000)
        row.expires = Ledger.now
        page[row.id] = row
        try await ledger.commit(page)
        #expect(try await router.forceMigration(for: key).outcome == .nothingToDo)
        #expect(!isImageKept(home))
    }

    private let encrypted: StorageKey<String> = MigrationHome.key("old", .encryptedFileSystem())

    /// A router with data that was migrated from an encrypted file to the keychain, and the destination's key.
    private func migrated(_ home: MigrationHome) async throws -> (StorageRouter, StorageKey<String>) {
        let router = try home.router()
        let key: StorageKey<String> = MigrationHome.key("new", .keychain(service: "tests")) { [encrypted] in
            AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(encrypted)))
        }
        try await router.set("data", for: encrypted)
        #expect(try await router.get(key) == "data")
        return (router, key)
    }

    private func rotate(_ ring: KeyRingName, _ router: StorageRouter) async throws {
        let first = try await router.keys.list(of: ring)[0].id
        try await router.keys.rotate(of: ring)
        #expect(try await router.keys.reseal(ring).resealed > 0)
        try await router.keys.retire(first, of: ring)
    }

    @Test("kept values outlive the key that sealed them")
    func rotated() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let (router, key) = try await migrated(home)
        try await rotate(.master, router)
        let other = try home.router()
        try await other.migrations.rollback(of: key)
        #expect(try await other.get(encrypted) == "data")
        #expect(try await !other.exists(key))
    }

    @Test("the ledger outlives the key that sealed it, and knows the value after it was re-encrypted")
    func resealed() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let (router, key) = try await migrated(home)
        try await rotate(.store("sealed-files"), router)
        let other = try home.router()
        #expect(try await other.migrationHistory(for: key).map(\.state) == [.clean])
        try await other.migrations.rollback(of: key)
        #expect(try await other.get(encrypted) == "data")
        #expect(try await !other.exists(key))
        #expect(!isImageKept(home))
    }

    @Test(
        "the hash of a sealed value is sealed as the value is, also if the ledger is in a plain store",
        arguments: [7, 0])
    func hashes(_ days: Int) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let secret: StorageKey<String> = MigrationHome.key("secret", .keychain(service: "tests"))
        let key: StorageKey<String> = MigrationHome.key("new", .fileSystem()) {
            AnyStorageMigration(
                ScriptedMigration(destinationKey: $0) { [source, destination = $0] router, _ in
                    try await router.set("plain", for: destination)
                    try await router.set(try await router.get(source), for: secret)
                    try await router.remove(source)
                    return MigrationResult(success: true)
                })
        }
        let router = try home.router(version: nil, "migrations: { grace: \(days) }")
        try await router.set("secret", for: source)
        #expect(try await router.forceMigration(for: key).outcome == .migrated)
        let hashes = home.files.filter { $0.key.contains("written") }
        #expect(hashes.count == (days == 0 ? 0 : 1) && hashes.keys.allSatisfy { $0.contains("keychain") }, "\(hashes)")
        // A sealed hash is larger than the eight bytes of one.
        #expect(hashes.values.allSatisfy { $0.count > 64 })
        guard days > 0 else { return }
        try await rotate(.store("sealed-files"), router)
        try await router.migrations.rollback(of: key)
        #expect(try await router.get(source) == "secret")
        #expect(!home.files.keys.contains { $0.contains("written") || $0.contains("image") })
    }

    @Test("a value that was changed and re-encrypted is not overwritten")
    func changedAndResealed() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let (router, key) = try await migrated(home)
        try await router.set("changed", for: key)
        try await rotate(.store("sealed-files"), router)
        let other = try home.router()
        await #expect(throws: MigrationError.validationFailed) { try await other.migrations.rollback(of: key) }
        #expect(try await other.get(key) == "changed")
        try await other.migrations.confirm(of: key)
        #expect(!isImageKept(home))
    }

    @Test("a kept plain value is restored only unchanged", arguments: [5, 2 << 20])
    func damaged(_ size: Int) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let domain = StorageDomain.fileSystem()
        let old: StorageKey<Data> = MigrationHome.key("old", domain, as: .data)
        let key: StorageKey<Data> = MigrationHome.key("new", domain, as: .data) { key in
            AnyStorageMigration(
                SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old), conflictPolicy: .takeSource))
        }
        let (former, legacy) = (Data(repeating: 1, count: size), Data(repeating: 2, count: size))
        try await router.set(former, for: key)
        try await router.set(legacy, for: old)
        #expect(try await router.forceMigration(for: key).outcome == .migrated)
        #expect(try await router.migrations.checkLedgers().pages.flatMap(\.remarks).isEmpty)
        let images = home.files.filter { $0.key.contains("image") && $0.value == former }
        let path = try #require(images.keys.first)
        var changed = former
        changed[0] ^= 1
        try changed.write(to: URL(filePath: "\(home.home.folder)/data/\(path)"))
        let remarks = try await router.migrations.checkLedgers().pages.flatMap(\.remarks)
        #expect(remarks.count == 1 && remarks.first?.contains("is damaged") == true, "\(remarks)")
        let error = await MigrationError.of { try await router.migrations.rollback(of: key) }
        #expect(error?.code == .validationFailed && "\(error as Any)".contains("is damaged"))
        #expect(try await router.get(key) == legacy)
        #expect(try await !router.exists(old))
    }
}
