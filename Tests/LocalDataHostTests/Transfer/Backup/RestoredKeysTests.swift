import Foundation
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import HostStores
@testable import HostTransfer
@testable import LocalDataHost

@Suite("the keys of a restored backup") struct RestoredKeysTests {
    private static let secret = textKey("secret", .encryptedFileSystem(), security: .recommended)
    private static let own = textKey("own", .encryptedFileSystem(), security: .recommended)
    private static let setting = textKey(
        "setting", .userDefaults(), security: .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: 10, salt: nil))))

    /// A maker's home with some sealed values, and its backup.
    private func made(ring: String = "LocalData") async throws -> (
        home: SealedHome, router: StorageRouter, path: String
    ) {
        let home = try SealedHome()
        let router = try home.router(domains: "", "encryption: { service: \"\(ring)\" }")
        try await router.set("a secret", for: Self.secret)
        try await router.set("a setting", for: Self.setting)
        let path = "\(home.folder)/backup"
        #expect(try await router.backUp(path).rings == 1)
        return (home, router, path)
    }

    @Test("values are sealed under the user's own key, and what the backup's maker seals later opens nowhere")
    func stranger() async throws {
        let (maker, theirs, path) = try await made()
        let home = try SealedHome()
        defer {
            maker.remove()
            home.remove()
        }
        let router = try home.router()
        try await router.set("mine", for: Self.own)
        let keys = try await router.keys.list(of: .master).map(\.id)
        let foreign = try await theirs.keys.list(of: .master).map(\.id)
        let plan = try await router.restore(path) { $0.isPlan = true }
        #expect(
            plan.rings.map(\.ring) == ["keychain:LocalData/master"] && plan.rings.map(\.keys) == [foreign], "\(plan)")
        #expect(!plan.takesKeys && plan.resealed == 2, "\(plan)")
        let report = try await router.restore(path)
        #expect(report.restored == 2 && report.resealed == 2 && report.rings.map(\.keys) == [foreign], "\(report)")
        for router in [router, try home.router()] {
            #expect(try await router.get(Self.secret) == "a secret")
            #expect(try await router.get(Self.setting) == "a setting")
            #expect(try await router.get(Self.own) == "mine")
            #expect(try await router.keys.list(of: .master).map(\.id) == keys)
            #expect(try await router.keys.formerRings().isEmpty)
        }
        #expect(try await router.restore(path).restored == 0)
        #expect(try await router.attributes(of: .key(Self.secret))?.serializer == "json")
        // The maker of the backup forges a value.
        try await theirs.set("forged", for: Self.own)
        try Data(contentsOf: URL(filePath: maker.valueFile("own"))).write(to: URL(filePath: home.valueFile("own")))
        let error = try await StorageError.of { try await home.router().get(Self.own) }
        #expect(error.code == .cannotOpen, "\(error)")
    }

    @Test("a ring of another name enters neither the keychain nor its list, unless the user takes the keys")
    func named() async throws {
        let (maker, _, path) = try await made(ring: "evil")
        let home = try SealedHome()
        defer {
            maker.remove()
            home.remove()
        }
        let router = try home.router()
        #expect(try await router.restore(path).resealed == 2)
        #expect(try await router.keys.formerRings().isEmpty)
        #expect(try await router.get(Self.secret) == "a secret")
        #expect(try await !router.populatedScopes(of: "keychain").contains("evil"))
        let report = try await router.restore(path) { $0.takesKeys = true }
        #expect(
            report.rings.map(\.ring) == ["keychain:evil/master"] && report.rings.map(\.isNew) == [true], "\(report)")
        #expect(report.domains.allSatisfy { $0.new + $0.different == 0 }, "\(report)")
        #expect(try await home.router().keys.formerRings().map(\.service) == ["evil"])
    }

    @Test("on a new machine the values are sealed under its new key, and the old keys come along if they are taken")
    func newMachine() async throws {
        let (maker, theirs, path) = try await made()
        defer { maker.remove() }
        let old = try await theirs.keys.list(of: .master).map(\.id)
        for takesKeys in [false, true] {
            let home = try SealedHome()
            defer { home.remove() }
            let router = try home.router()
            let report = try await router.restore(path) { $0.takesKeys = takesKeys }
            #expect(report.restored == (takesKeys ? 3 : 2) && report.resealed == (takesKeys ? 0 : 2), "\(report)")
            let again = try home.router()
            #expect(try await again.get(Self.secret) == "a secret")
            #expect(try await again.get(Self.setting) == "a setting")
            #expect(try await (again.keys.list(of: .master).map(\.id) == old) == takesKeys)
            #expect(try await again.restore(path) { $0.takesKeys = takesKeys }.restored == 0)
            #expect(try await again.keys.reseal().resealed == 0)
            // Also after values were sealed again under a new key, unless it takes long to compare them.
            _ = try await again.keys.rotate()
            #expect(try await again.keys.reseal().resealed == 2)
            let last = try await again.restore(path) { ($0.takesKeys, $0.overwrites) = (takesKeys, true) }
            #expect(last.restored == (takesKeys ? 1 : 0), "\(last)")
        }
    }

    @Test("a large value is sealed again in pieces, and a value that its key does not open stays as it is")
    func largeAndDamaged() async throws {
        let (maker, theirs, path) = try await made()
        let home = try SealedHome()
        defer {
            maker.remove()
            home.remove()
        }
        let large = AnyStorageKey(textKey("large", .encryptedFileSystem(), security: .recommended))
        let bytes = Data(SeededGenerator.bytes(3 << 20, seed: 1))
        try await theirs.setData(bytes, for: large)
        _ = try await theirs.backUp(path)
        var backup = try await CraftedBackup(path, theirs)
        for (index, record) in backup.records.enumerated() where record.item.name == "secret" {
            backup.records[index].bytes[record.bytes.count - 1] ^= 1
        }
        try await backup.write(to: path, theirs)
        let router = try home.router()
        let report = try await router.restore(path)
        #expect(report.restored == 3 && report.resealed == 2 && report.unopened == 1, "\(report)")
        let again = try home.router()
        #expect(try await again.data(for: large) == bytes)
        #expect(try await again.get(Self.setting) == "a setting")
        #expect(try await StorageError.of { try await again.get(Self.secret) }.code == .cannotOpen)
        #expect(try await again.restore(path).restored == 0)
        // Below the store's sealing, too.
        let vault = try SealedHome()
        defer { vault.remove() }
        let sealed = try vault.vault("sealing: { source: \"keyFile\" }", domains: "encryptedFileSystem: \"vault\"")
        #expect(try await sealed.restore(path).resealed == 2)
        #expect(try await sealed.data(for: large) == bytes)
    }

    @Test("a value that is here under a key that is gone is different, and the backup's keys bring it back")
    func lostRing() async throws {
        let (maker, _, path) = try await made()
        defer { maker.remove() }
        for name in ["data/keychain", "state/rings"] {
            try FileManager.default.removeItem(atPath: "\(maker.folder)/\(name)")
        }
        let router = try maker.router()
        #expect(try await StorageError.of { try await router.get(Self.secret) }.code == .cannotOpen)
        let error = try await StorageError.of { try await router.restore(path) }
        #expect(error.code == .busy && error.hint.contains("--keys"), "\(error)")
        #expect(try await router.restore(path) { $0.takesKeys = true }.restored >= 1)
        #expect(try await maker.router().get(Self.secret) == "a secret")
    }

    @Test("what migrations keep of sealed values opens after the restore, and can be rolled back")
    func ledger() async throws {
        let (maker, home) = (try MigrationHome(), try MigrationHome())
        defer {
            maker.remove()
            home.remove()
        }
        let old: StorageKey<String> = MigrationHome.key("old", .encryptedFileSystem())
        let key: StorageKey<String> = MigrationHome.key("new", .encryptedFileSystem(directory: .caches)) { key in
            AnyStorageMigration(
                SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old), conflictPolicy: .takeSource))
        }
        let first = try maker.home.router()
        try await first.set("legacy", for: old)
        #expect(try await first.forceMigration(for: key).outcome == .migrated)
        let path = "\(maker.home.folder)/backup"
        #expect(try await first.backUp(path).ledger > 0)
        let second = try home.home.router()
        _ = try await second.restore(path)
        try await second.migrations.rollback(of: key)
        #expect(try await second.get(old) == "legacy")
    }

    @Test("an entry of the ledger that names a folder is somebody's, too: nothing is restored unless the user names it")
    func ledgerFolder() async throws {
        let (maker, home) = (try MigrationHome(), try MigrationHome())
        defer {
            maker.remove()
            home.remove()
        }
        let folder = "\(home.home.folder)/victim"
        let directory = FileDirectory.custom(URL(filePath: folder, directoryHint: .isDirectory))
        let old: StorageKey<String> = MigrationHome.key("authorized_keys", .fileSystem(directory: directory))
        let key: StorageKey<String> = MigrationHome.key("new", .userDefaults()) { key in
            AnyStorageMigration(
                SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old), conflictPolicy: .takeSource))
        }
        let first = try maker.home.router()
        try await first.set("ssh-ed25519 AAAA", for: old)
        #expect(try await first.forceMigration(for: key).outcome == .migrated)
        let path = "\(maker.home.folder)/backup"
        #expect(try await first.backUp(path).ledger > 0)
        try FileManager.default.removeItem(atPath: folder)
        let second = try home.home.router()
        let error = try await StorageError.of { try await second.restore(path) }
        #expect(error.message.contains("'\(folder)'") && error.message.contains("the ledger's"), "\(error)")
        #expect(try await !second.exists(MigrationHome.key("new", .userDefaults()) as StorageKey<String>))
        #expect(access(folder, F_OK) != 0)
        #expect(try await second.restore(path) { $0.folders = try NamedFolders([folder]) }.restored > 0)
        try await second.migrations.rollback(of: key)
        #expect(try await second.get(old) == "ssh-ed25519 AAAA")
    }
}
