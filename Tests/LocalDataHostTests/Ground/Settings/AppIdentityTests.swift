import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import LocalDataHost

/// What two programs declare that both paste the README.
private struct PastedSettings: UserDefaultsContainer {
    @Setting var username = "guest"
}

private enum PastedProfile: VaultStorable {
    static let key = "profile"
    static let defaultValue = "nobody"
    static let security = SecurityPolicy.none
}

@Suite("an app's identity") struct AppIdentityTests {
    /// The launch of an app in a home that it shares with other apps.
    private func launch(_ app: String, in home: SealedHome, _ text: String = "") throws -> StorageRouter {
        try home.router("app: { id: \"\(app)\" }, \(text)")
    }

    static let own: [StorageDomain] = [
        .userDefaults(), .fileSystem(), .fileSystem(directory: .caches), .encryptedFileSystem(),
        .encryptedFileSystem(directory: .caches), .keychain(),
    ]

    private static func key(_ domain: StorageDomain, owner: String, _ name: String = "theme") -> StorageKey<String> {
        let security: SecurityPolicy =
            switch domain {
            case .keychain: .keychain(accessibility: .afterFirstUnlock)
            case .encryptedFileSystem: .recommended
            default: .none
            }
        return StorageKey(name: name, domain: domain, security: security, owner: owner, description: "The theme.")
    }

    @Test(
        "two programs that declare the same key never see each other's values, with any owner",
        arguments: own, ["Appearance", "Other"])
    func apart(_ domain: StorageDomain, _ owner: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let (first, second) = (try launch("settings", in: home), try launch("editor", in: home))
        let (key, other) = (Self.key(domain, owner: "Appearance"), Self.key(domain, owner: owner))
        try await first.set("dark", for: key)
        await #expect(throws: StorageError.notFound) { try await second.get(other) }
        #expect(try await !second.exists(other))
        #expect(try await second.names(in: domain).isEmpty)
        try await second.set("light", for: other)
        #expect(try await first.get(key) == "dark")
        #expect(try await second.remove(other) as Bool)
        // Nor does the history of places bring one to the other, in later launches.
        let (later, sooner) = (try launch("settings", in: home), try launch("editor", in: home))
        await #expect(throws: StorageError.notFound) { try await sooner.get(Self.key(domain, owner: owner)) }
        #expect(try await later.get(Self.key(domain, owner: "Appearance")) == "dark")
    }

    @Test("a backup knows whose keys are in suites that the code names, when they move on a new machine")
    func restored() async throws {
        let (home, new) = (try SealedHome(), try SealedHome())
        defer {
            home.remove()
            new.remove()
        }
        func key(_ domain: StorageDomain) -> StorageKey<String> { Self.key(domain, owner: "Appearance") }
        let suites = ["settings": "work", "editor": "desk"]
        for (app, suite) in suites {
            try await launch(app, in: home).set("of \(app)", for: key(.userDefaults(suite: suite)))
        }
        let path = "\(home.folder)/backup"
        _ = try await home.router().backUp(path)
        #expect(try await new.router().restore(path).restored == 2)
        for app in suites.keys {
            let moved = key(.fileSystem())
            #expect(try await launch(app, in: new).get(moved) == "of \(app)")
        }
        // A third app with such a key has none of them.
        await #expect(throws: StorageError.notFound) { try await launch("third", in: new).get(key(.fileSystem())) }
    }

    @Test("a key that changes its domain finds its own app's value, and not that of another app with the same key")
    func movedDomain() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await launch("settings", in: home).set("dark", for: Self.key(.userDefaults(), owner: "Appearance"))
        try await launch("editor", in: home).set("light", for: Self.key(.userDefaults(), owner: "Appearance"))
        for (app, value) in [("editor", "light"), ("settings", "dark")] {
            #expect(try await launch(app, in: home).get(Self.key(.fileSystem(), owner: "Appearance")) == value)
        }
        await #expect(throws: StorageError.notFound) {
            try await launch("viewer", in: home).get(Self.key(.fileSystem(), owner: "Appearance"))
        }
    }

    @Test("containers and vaults without a store of their own belong to the app")
    func containersAndVaults() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        for app in ["one", "two"] {
            let router = try launch(app, in: home)
            let settings = try await PastedSettings.open(in: router)
            #expect(settings.username == "guest")
            settings.username = app
            try await settings.$username.save()
            let profile = VaultDataStorage(PastedProfile.self, service: router)
            await profile.initializationTask.value
            #expect(profile.value == "nobody")
            profile.value = app
            try await profile.save()
        }
        for app in ["one", "two"] {
            let router = try launch(app, in: home)
            #expect(try await PastedSettings.open(in: router).username == app)
            #expect(try await router.get(PastedProfile.storageKey()) == app)
        }
    }

    @Test("what apps name is shared: a suite, a service, a group, a folder, another app's own, a custom domain")
    func shared() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let folder = FileDirectory.custom(URL(filePath: "\(home.folder)/own"))
        let domains: [StorageDomain] = [
            .userDefaults(suite: "team"), .userDefaults(suite: "settings"), .keychain(service: "team"),
            .appGroupUserDefaults(identifier: "group"), .appGroupFileSystem(id: "group"),
            .fileSystem(directory: folder), .encryptedFileSystem(directory: folder),
            .fileSystem(directory: .documents(of: "settings")), .fileSystem(directory: .caches(of: "settings")),
            .encryptedFileSystem(directory: .documents(of: "settings")), .custom(name: "own"),
        ]
        for (index, domain) in domains.enumerated() {
            let key = Self.key(domain, owner: "Team", "shared \(index)")
            try await launch("settings", in: home).set("together", for: key)
            let same = Self.key(domain, owner: "Team", "shared \(index)")
            #expect(try await launch("editor", in: home).get(same) == "together")
        }
        let settings = try launch("settings", in: home)
        let own: [(StorageDomain, Int)] = [
            (.userDefaults(), 1), (.fileSystem(), 7), (.fileSystem(directory: .caches), 8),
        ]
        for (domain, index) in own {
            let key = Self.key(domain, owner: "Team", "shared \(index)")
            #expect(try await settings.get(key) == "together", "\(domain)")
        }
    }

    @Test("a program whose executable gets another name keeps its data, if its code names the app")
    func renamed() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let key = Self.key(.userDefaults(), owner: "Appearance")
        var before = try home.configuration()
        before.ownAppID = AppIdentifier.ofProgram(at: "/opt/bin/settings")
        try await StorageRouter(configuration: before).set("dark", for: key)
        var after = before
        after.ownAppID = AppIdentifier.ofProgram(at: "/opt/bin/preferences")
        let renamed = StorageRouter(configuration: after)
        await #expect(throws: StorageError.notFound) { try await renamed.get(key) }
        await renamed.updateStorageConfiguration(StorageConfiguration(appIdentifier: "settings"))
        #expect(try await renamed.get(key) == "dark")
        #expect(try await renamed.configuration().value(at: "app.id")?.value == .string("settings"))
    }

    @Test("code names the app before the setting, and the setting before the executable's name")
    func precedence() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try launch("set", in: home)
        #expect(try await "\(router.resolve(KeyReference(textKey("k"))).address)" == "userDefaults:set/k")
        await router.updateStorageConfiguration(StorageConfiguration(appIdentifier: "coded"))
        #expect(try await "\(router.resolve(KeyReference(textKey("k"))).address)" == "userDefaults:coded/k")
        await router.updateStorageConfiguration(StorageConfiguration())
        #expect(try await "\(router.resolve(KeyReference(textKey("k"))).address)" == "userDefaults:set/k")
        #expect(try HostConfiguration().settings().appID == AppIdentifier.ofThisProgram)
        #expect(!AppIdentifier.ofThisProgram.isEmpty && AppIdentifier.isValid(AppIdentifier.ofThisProgram))
    }

    @Test("an identifier that is not usable is refused, and every call says so until a usable one is set")
    func refused() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try launch("set", in: home)
        for identifier in ["a/b", "..", ".hidden", "ü", "a b", String(repeating: "x", count: 201)] {
            await router.updateStorageConfiguration(StorageConfiguration(appIdentifier: identifier))
            let error = await #expect(throws: StorageError.self) { try await router.exists(textKey("k")) }
            #expect(error?.code == .invalidConfiguration && error?.message.contains("app.id") == true)
        }
        await router.updateStorageConfiguration(StorageConfiguration(appIdentifier: "usable"))
        #expect(try await !router.exists(textKey("k")))
    }

    @Test(
        "an executable's name becomes an identifier",
        arguments: [
            ("/usr/bin/notes", "notes"), ("notes", "notes"), ("/opt/My App/My App", "My_App"), ("/x/Ä.b", "__.b"),
            ("/x/.hidden", "_hidden"), ("", "_"),
            ("/x/\(String(repeating: "n", count: 250))", String(repeating: "n", count: 200)),
        ])
    func ofProgram(_ path: String, _ expected: String) {
        #expect(AppIdentifier.ofProgram(at: path) == expected)
        #expect(AppIdentifier.isValid(expected))
    }

    @Test("a program whose file is replaced while it runs keeps its identity")
    func replacedFile() throws {
        let home = try SealedHome()
        defer { home.remove() }
        #expect(AppIdentifier.withoutRemark("\(home.folder)/notes (deleted)") == "\(home.folder)/notes")
        let odd = try home.fixture.write([], to: "odd (deleted)")
        #expect(AppIdentifier.withoutRemark(odd) == odd)
    }

    @Test("a migration moves the app's own value, removes its old one, and can be undone", arguments: ["notes", ""])
    func migration(_ app: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let old = Self.key(.userDefaults(), owner: "Appearance", "old")
        let new = StorageKey<String>(
            name: "new", domain: .userDefaults(), security: .none, owner: "Appearance", description: "The theme."
        ) { AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(old))) }
        try await launch(app, in: home).set("dark", for: old)
        try await launch("other", in: home).set("light", for: old)
        let router = try launch(app, in: home)
        #expect(try await router.get(new) == "dark")
        #expect(try await router.names(in: .userDefaults(), prefix: "") == ["new"])
        #expect(try await launch("other", in: home).get(old) == "light")
        let id = try #require(try await router.migrationHistory(for: new).first?.id)
        try await router.migrations.rollback(of: new, id: id)
        #expect(try await router.names(in: .userDefaults(), prefix: "") == ["old"])
    }

    @Test("the apps that have values are listed, with those that have only caches")
    func apps() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await launch("preferring", in: home).set("x", for: Self.key(.userDefaults(), owner: "T"))
        try await launch("caching", in: home).set("x", for: Self.key(.fileSystem(directory: .caches), owner: "T"))
        try await launch("sealing", in: home).set("x", for: Self.key(.encryptedFileSystem(), owner: "T"))
        try await launch("filing", in: home, "files: { subDirectory: \"sub\" },")
            .set("x", for: Self.key(.fileSystem(), owner: "T"))
        try await launch("", in: home).set("x", for: Self.key(.userDefaults(), owner: "T"))
        let apps = try await launch("preferring", in: home).apps()
        #expect(apps.apps == ["caching", "filing", "preferring", "sealing"])
        #expect(apps.failures.isEmpty)
    }

    @Test("every address that a listing gives leads to its value, whichever app asks", arguments: ["", "a", "b"])
    func addresses(_ app: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        var expected: Set<String> = []
        for (writer, sub) in [("", ""), ("a", ""), ("b", ""), ("b", "files: { subDirectory: \"s/t\" },")] {
            let router = try launch(writer, in: home, sub)
            for domain in Self.own where domain.name != "keychain" {
                let text = "\(writer) \(sub) \(domain)"
                try await router.set(text, for: Self.key(domain, owner: "T"))
                let isListed = !(domain.description.hasSuffix("caches") && !sub.isEmpty)
                if isListed, sub.isEmpty || domain.name != "userDefaults" { expected.insert(text) }
                if domain.name == "userDefaults", !sub.isEmpty {
                    expected.remove("\(writer)  \(domain)")
                    expected.insert(text)
                }
            }
        }
        let router = try launch(app, in: home)
        var found: Set<String> = []
        for domain in try await router.populatedDomains().domains where !domain.name.hasPrefix("app") {
            for name in try await router.names(in: domain, prefix: "") {
                let key = try await router.key(at: "\(domain)/\(name)")
                let data = try #require(try await router.data(for: key), "\(domain)/\(name)")
                found.insert(try JSONDecoder().decode(String.self, from: data))
            }
        }
        #expect(found == expected)
    }
}
