import Foundation
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import HostStores
@testable import LocalDataHost

@Suite("where a restore may write") struct RestoredFoldersTests {
    private static func folderKey(_ folder: String, _ name: String = "k") -> StorageKey<String> {
        textKey(name, .fileSystem(directory: .custom(URL(filePath: folder, directoryHint: .isDirectory))))
    }

    @Test(
        "values for a folder that the user has not named are refused before anything is written",
        arguments: ["fileSystem", "encryptedFileSystem", "appGroupFileSystem"])
    func unnamed(_ domain: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let folder = "\(home.folder)/victim/.ssh"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var backup = CraftedBackup()
        backup.add("userDefaults", "", "harmless", "1")
        backup.add(domain, folder, "authorized_keys", "ssh-ed25519 AAAA")
        let path = "\(home.folder)/backup"
        try await backup.write(to: path, router)
        let before = home.files()
        let plan = try await router.restore(path) { $0.isPlan = true }
        let change = try #require(plan.changes?.first { $0.needsFolder })
        #expect(change.folder == folder && change.address.hasSuffix("/authorized_keys"), "\(plan)")
        let error = try await StorageError.of { try await router.restore(path) }
        #expect(error.code == .securityApplicationFailed, "\(error)")
        #expect(error.message.contains("'\(folder)'") && error.message.contains("authorized_keys"), "\(error)")
        #expect(
            error.message.contains("nothing was restored") && error.hint.contains("--folder '\(folder)'"), "\(error)")
        #expect(home.files() == before)
        // Naming a folder above it does not name it.
        let above = try await StorageError.of {
            try await router.restore(path) { $0.folders = try NamedFolders(["\(home.folder)/victim"]) }
        }
        #expect(above.message.contains(folder), "\(above)")
        #expect(home.files() == before)
        let report = try await router.restore(path) { $0.folders = try NamedFolders(["\(folder)/"]) }
        #expect(report.restored == 2)
    }

    @Test("what the host reads for itself comes from no file", arguments: ["sync", "master", "fresh"])
    func ownAddresses(_ name: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let path = "\(home.folder)/backup"
        for (domain, scope) in [("keychain", "LocalData"), ("localdata.sync", ""), ("localdata.rings", "LocalData")] {
            var backup = CraftedBackup()
            backup.add(domain, scope, name, "planted")
            try await backup.write(to: path, router)
            let before = home.files()
            await #expect(throws: StorageError.self, "\(domain)") { try await router.restore(path) }
            #expect(home.files() == before, "\(domain)")
        }
    }

    @Test("a folder in another spelling is no address's, and is refused even if it is named")
    func spellings() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let path = "\(home.folder)/backup"
        for scope in ["\(home.folder)/data/../victim", "\(home.folder)//victim", "\(home.folder)/./victim", "/"] {
            var backup = CraftedBackup()
            backup.add("fileSystem", scope, "k", "1")
            try await backup.write(to: path, router)
            let before = home.files()
            await #expect(throws: StorageError.self, "\(scope)") { try await router.restore(path) }
            #expect(home.files() == before, "\(scope)")
        }
    }

    @Test("a folder inside of the data folder is named as any other: other values' files are there")
    func inside() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("mine", for: textKey("k", .userDefaults()))
        let file = try home.valueFile("k")
        var backup = CraftedBackup()
        backup.add("fileSystem", String(file.dropLast(2)), "k", "theirs")
        let path = "\(home.folder)/backup"
        try await backup.write(to: path, router)
        await #expect(throws: StorageError.self) { try await router.restore(path) { $0.overwrites = true } }
        #expect(try await router.get(textKey("k", .userDefaults())) == "mine")
    }

    @Test("a folder that the user names by a symbolic link gets the values of either path")
    func links() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let folder = "\(home.folder)/disk/documents"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let link = "\(home.folder)/documents"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder)
        var backup = CraftedBackup()
        backup.add("fileSystem", folder, "k", "1")
        let path = "\(home.folder)/backup"
        try await backup.write(to: path, router)
        #expect(try await router.restore(path) { $0.folders = try NamedFolders([link]) }.restored == 1)
        #expect(try Data(contentsOf: URL(filePath: "\(folder)/k")) == Data("1".utf8))
        // A folder that does not exist yet is compared as well.
        unlink("\(folder)/k")
        rmdir(folder)
        #expect(try await router.restore(path) { $0.folders = try NamedFolders([link]) }.restored == 1)
        #expect(access("\(folder)/k", F_OK) == 0)
    }

    @Test("one's own backup needs no names for folders of catalogued keys, and for those where own keys seal")
    func ownFolders() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let folder = "\(home.folder)/documents"
        let plain = Self.folderKey(folder)
        let directory = FileDirectory.custom(URL(filePath: folder, directoryHint: .isDirectory))
        let sealed = textKey("s", .encryptedFileSystem(directory: directory), security: .recommended)
        func release() async throws -> StorageRouter {
            let router = try home.router()
            try await router.registerCatalog(OwnCatalog(allKeys: [.key(plain)]))
            return router
        }
        try await home.router().set("sealed", for: sealed)
        try await release().set("plain", for: plain)
        let path = "\(home.folder)/backup"
        let report = try await release().backUp(path)
        #expect(report.values == 2, "\(report)")
        try FileManager.default.removeItem(atPath: folder)
        #expect(try await release().restore(path).restored == 2)
        #expect(try await home.router().get(sealed) == "sealed")
        #expect(try await release().get(plain) == "plain")
        // Another program, without the catalog, does not know the folder of the plain file.
        unlink("\(folder)/k")
        let error = try await StorageError.of { try await home.router().restore(path) }
        #expect(error.message.contains("'\(folder)' (1 value"), "\(error)")
    }

    @Test(
        "what no address names is refused, as no command could list or remove it",
        arguments: [
            ("appGroupFileSystem", "../../x:documents"), ("appGroupFileSystem", "group.app:elsewhere"),
            ("appGroupUserDefaults", "../x"), ("keychain", ""), ("fileSystem", "nowhere in particular"),
            ("encryptedFileSystem", "../documents"),
        ])
    func unaddressable(_ domain: String, _ scope: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        var backup = CraftedBackup()
        backup.add(domain, scope, "k", "1")
        let path = "\(home.folder)/backup"
        try await backup.write(to: path, router)
        let error = try await StorageError.of { try await router.restore(path) { $0.overwrites = true } }
        #expect(error.code == .invalidAddress && error.message.contains("nothing was restored"), "\(error)")
        #expect(home.files("data").isEmpty)
    }

    @Test("lists and backups pass over values that no address names, with a warning")
    func passedOver() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("1", for: textKey("k", .userDefaults()))
        let open = try await router.snapshot().slot(for: "appGroupFileSystem").openIfNeeded()
        let place = StorageNamespace(domain: "appGroupFileSystem", scope: "../../x:documents")
        try open.value(at: StorageAddress(place, name: "lost")).set(Data("1".utf8), attributes: nil)
        let log = LogRecorder()
        let again = StorageRouter(configuration: try home.configuration(), log: log)
        let found = try await again.populatedDomains()
        #expect(found.domains == [.userDefaults()] && found.failures.isEmpty, "\(found)")
        #expect(log.lines.count { $0.contains("'appGroupFileSystem:..%2F..%2Fx:documents'") } == 1, "\(log.lines)")
        let path = "\(home.folder)/backup"
        #expect(try await again.backUp(path).values == 1)
        #expect(try await again.restore(path).restored == 0)
    }
}

private struct OwnCatalog: StorageKeyCatalog {
    let allKeys: [AnyStorageKey]
}
