import FoundationEssentials
import Glibc
import LocalDataAPI
import Testing

@testable import LocalDataHost

@Suite("retiring keys", .timeLimit(.minutes(2))) struct RetireTests {
    /// A router with a store to which no domain need be mapped.
    private func router(_ home: SealedHome, domains: String = "", own: Bool = true, root: String = "own") throws
        -> StorageRouter
    {
        let store = own ? "box: { component: \"file\", options: { root: \"${data}/\(root)\" } }, " : ""
        return try home.router(domains: domains, "stores: { \(store) }, keychain: { service: \"s\" }")
    }

    static let domains: [StorageDomain] = [
        .userDefaults(), .userDefaults(suite: "suite"), .fileSystem(), .fileSystem(directory: .caches),
        .fileSystem(directory: .custom(URL(filePath: PolicyCases.folder))), .encryptedFileSystem(),
        .encryptedFileSystem(directory: .caches), .appGroupUserDefaults(identifier: "group.other"),
        .appGroupFileSystem(id: "group.other"), .keychain(service: "s"), .custom(name: "own", scope: "scope"),
    ]

    @Test("a key that seals one value anywhere is kept, and the value is named", arguments: domains.indices)
    func everywhere(_ index: Int) async throws {
        let (home, domain) = try PolicyCases.home(Self.domains[index])
        defer { home.remove() }
        let key = textKey("k", domain, security: .recommended)
        try await router(home).set("x", for: key)
        // This router has not used the location, but finds its values anyway.
        let router = try router(home)
        let old = try await router.keys.list(counting: true)
        #expect(old.map(\.values) == [1])
        try await router.keys.rotate()
        let error = try await StorageError.of { try await router.keys.retire(old[0].id) }
        #expect(
            error.code == .busy
                && error.hint == "run: ld-host reseal; a value that it cannot open has to be restored or removed")
        #expect(
            error.message.contains("the key \(old[0].id) still seals a value, e.g. '") && error.message.hasSuffix("/k'")
        )
        #expect(try await router.get(key) == "x")
        #expect(try await router.keys.reseal().resealed == 1)
        try await router.keys.retire(old[0].id)
        #expect(try await router.keys.list(counting: true).map(\.values) == [1])
        for reader in [router, try self.router(home)] { #expect(try await reader.get(key) == "x") }
    }

    @Test("a store without a mapped domain is searched, as long as it is configured")
    func unmapped() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let key = textKey("k", .custom(name: "own"), security: .recommended)
        try await router(home, domains: "own: \"box\"").set("x", for: key)
        let router = try router(home)
        let old = try await router.keys.list()[0].id
        try await router.keys.rotate()
        await #expect(throws: StorageError.busy) { try await router.keys.retire(old) }
        #expect(try await router.keys.reseal().resealed == 1)
        try await router.keys.retire(old)
        #expect(try await self.router(home, domains: "own: \"box\"").get(key) == "x")
    }

    @Test("a store that is no longer configured, or has moved under the same name, is named, and the key is kept")
    func unconfigured() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let key = textKey("k", .custom(name: "own"), security: .recommended)
        try await router(home, domains: "own: \"box\"").set("x", for: key)
        for changed in [try router(home, own: false), try router(home, root: "elsewhere")] {
            let old = try await changed.keys.list()[0].id
            try await changed.keys.rotate()
            for call in [
                { try await changed.keys.retire(old) }, { _ = try await changed.keys.reseal() },
                { _ = try await changed.keys.list(counting: true) },
            ] as [@Sendable () async throws -> Void] {
                let error = try await StorageError.of(call)
                #expect(error.code == .invalidConfiguration)
                #expect(error.message.contains("'own' of the store 'box'") && error.hint.contains("configure it again"))
            }
            #expect(try await changed.keys.list()[0].id == old)
        }
        // Under another name it is still the same store.
        let renamed = try home.router("stores: { crate: { component: \"file\", options: { root: \"${data}/own\" } } }")
        let old = try await renamed.keys.list()[0].id
        await #expect(throws: StorageError.busy) { try await renamed.keys.retire(old) }
        #expect(try await router(home, domains: "own: \"box\"").get(key) == "x")
    }

    @Test("a moved store is followed once its new location is given, and so is an app's own folder in it")
    func moved() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let keys = [
            textKey("k", .custom(name: "own"), security: .recommended),
            textKey(
                "mine", .fileSystem(directory: .custom(URL(filePath: "\(home.folder)/mine"))), security: .recommended),
        ]
        let domains = "own: \"box\", fileSystem: \"box\""
        for key in keys { try await router(home, domains: domains).set("x", for: key) }
        try FileManager.default.moveItem(
            atPath: "\(home.folder)/data/own", toPath: "\(home.folder)/data/elsewhere")
        let moved = try router(home, domains: domains, root: "elsewhere")
        for key in keys { #expect(try await moved.get(key) == "x") }
        let old = try await moved.keys.list()[0].id
        try await moved.keys.rotate()
        let error = try await StorageError.of { try await moved.keys.retire(old) }
        #expect(error.code == .invalidConfiguration && error.hint.contains("ld-host keys forget box"))
        #expect(try await moved.keys.forgetPlaces(ofStore: "box") == 2)
        await #expect(throws: StorageError.notFound) { try await moved.keys.forgetPlaces(ofStore: "box") }
        await #expect(throws: StorageError.busy) { try await moved.keys.retire(old) }
        #expect(try await moved.keys.reseal().resealed == 2)
        try await moved.keys.retire(old)
        for key in keys { #expect(try await moved.get(key) == "x") }
    }

    @Test("a missing store blocks no key once it is declared lost")
    func gone() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let key = textKey("k", .custom(name: "own"), security: .recommended)
        try await router(home, domains: "own: \"box\"").set("x", for: key)
        let other = try router(home, own: false)
        let old = try await other.keys.list()[0].id
        try await other.keys.rotate()
        #expect(try await other.keys.forgetPlaces(ofStore: "box") == 1)
        try await other.keys.retire(old)
        await #expect(throws: StorageError.notFound) { try await other.keys.forgetPlaces(ofStore: "box") }
    }

    @Test("a sealed store's own keys move with it")
    func movedSealedStore() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        func router(_ root: String) throws -> StorageRouter {
            try home.router(
                domains: "own: \"box\"",
                """
                stores: { box: { component: "file", options: { root: "${data}/\(root)" }, \
                sealing: { source: "keyFile" } } }
                """)
        }
        let key = textKey("k", .custom(name: "own"))
        try await router("own").set("x", for: key)
        try FileManager.default.moveItem(
            atPath: "\(home.folder)/data/own", toPath: "\(home.folder)/data/elsewhere")
        let moved = try router("elsewhere")
        let old = try await moved.keys.list(of: .store("box"))[0].id
        try await moved.keys.rotate(of: .store("box"))
        await #expect(throws: StorageError.busy) { try await moved.keys.retire(old, of: .store("box")) }
        #expect(try await moved.keys.reseal(.store("box")).resealed == 1)
        try await moved.keys.retire(old, of: .store("box"))
        #expect(try await moved.get(key) == "x")
    }

    @Test("if the configuration moves the folder of app groups, the old folder is searched, too")
    func movedGroups() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let key = textKey("k", .appGroupFileSystem(id: "g"), security: .recommended)
        func router(_ groups: String) throws -> StorageRouter {
            StorageRouter(
                configuration: try home.fixture.configuration("appGroups: { path: \"\(home.folder)/\(groups)\" }"))
        }
        try await router("first").set("x", for: key)
        let moved = try router("second")
        try await moved.set("y", for: key)
        let old = try await moved.keys.list(counting: true)
        // Both values, and the record that identifies the first, which the second has superseded.
        #expect(old.map(\.values) == [3])
        try await moved.keys.rotate()
        try await moved.set("z", for: key)
        await #expect(throws: StorageError.busy) { try await moved.keys.retire(old[0].id) }
        // What the first folder has opens still, though the second has a later value of the key.
        let first = try await router("first").resolve(key).data()
        #expect(first == Data("\"x\"".utf8))
    }

    @Test("an unreadable value keeps the keys that it may need")
    func doubtful() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let key = textKey("k", .custom(name: "own"), security: .recommended)
        // Sealed by the policy alone, before the store was sealed.
        try await home.vault("").set("x", for: key)
        let router = try home.vault("sealing: { source: \"keyFile\" }")
        let old = try await router.keys.list()[0].id
        try await router.keys.rotate()
        let error = try await StorageError.of { try await router.keys.retire(old) }
        #expect(error.code == .busy && error.message.contains("whether the key \(old) seals 'own/k' is unknown"))
        let report = try await router.keys.reseal()
        #expect(report.resealed == 0 && report.failures.keys.sorted() == ["own/k"])
        #expect(try await home.vault("").get(key) == "x")
        // A plain value needs no key, whatever other values there are.
        try await home.vault("").remove(key)
        try await home.vault("").set("plain", for: textKey("plain", .custom(name: "own")))
        try await router.keys.retire(old)
    }

    @Test("an envelope of a later version blocks every key")
    func laterVersion() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let key = textKey("k", security: .recommended)
        try await router.set("x", for: key)
        let path = try home.valueFile("k")
        var stored = try Data(contentsOf: URL(filePath: path))
        stored[4] = 2
        try stored.write(to: URL(filePath: path))
        let old = try await router.keys.list()[0].id
        try await router.keys.rotate()
        let error = try await StorageError.of { try await router.keys.retire(old) }
        #expect(error.code == .busy && error.message.contains("version 2"))
        #expect(try await router.keys.reseal().failures["userDefaults/k"]?.contains("version 2") == true)
        #expect(try Data(contentsOf: URL(filePath: path)) == stored)
    }

    @Test("a removed value, an overwritten one and one under external key material need no key")
    func others() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        await router.registerKeyMaterialProvider(TestMaterial(byte: 1), for: PolicyCases.source)
        let keys = ["removed", "overwritten"].map { textKey($0, security: .recommended) }
        for key in keys { try await router.set("x", for: key) }
        let outside = textKey("outside", security: .encrypted(.external(source: PolicyCases.source)))
        try await router.set("x", for: outside)
        let old = try await router.keys.list()[0].id
        try await router.keys.rotate()
        try await router.remove(keys[0])
        try await router.set("y", for: keys[1])
        try await router.keys.retire(old)
        #expect(try await router.get(outside) == "x")
        #expect(try await router.get(keys[1]) == "y")
        #expect(try await router.keys.list(counting: true).map(\.values) == [1])
    }
}
