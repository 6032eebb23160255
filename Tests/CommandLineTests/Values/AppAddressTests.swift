import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("The data of apps, for ld-host")
struct AppAddressTests {
    /// A home in which two apps have stored values under the same keys, and `ld-host` has some that belong to none.
    private func home() async throws -> Home {
        let home = try Home()
        try home.keepUserDefaultsInFiles()
        for (id, theme) in [("settings", "dark"), ("editor", "light")] {
            let app = try home.app(id)
            try await app.configure("domains.userDefaults", "file")
            try await app.set(theme, for: Self.theme())
            try await app.set("a note of \(id)", for: Self.theme(.fileSystem()))
            try await app.set("a cache of \(id)", for: Self.theme(.fileSystem(directory: .caches)))
        }
        try home.done("set", "userDefaults/volume", "7")
        try home.done("set", "fileSystem/todo", "nothing")
        return home
    }

    private static func theme(_ domain: StorageDomain = .userDefaults()) -> StorageKey<String> {
        StorageKey(
            name: "theme", domain: domain, security: .none, serializer: .text, owner: "Appearance",
            description: "The theme.")
    }

    @Test("an address names the app, or --app or LOCALDATA_APP does")
    func addresses() async throws {
        let home = try await home()
        for (address, value) in [
            ("userDefaults:settings/theme", "dark"), ("userDefaults:editor/theme", "light"),
            ("fileSystem:settings/theme", "a note of settings"),
            ("fileSystem:editor:documents/theme", "a note of editor"),
            ("fileSystem:editor:caches/theme", "a cache of editor"), ("userDefaults/volume", "7"),
            ("userDefaults:/volume", "7"), ("fileSystem::documents/todo", "nothing"), ("fileSystem/todo", "nothing"),
        ] { #expect(try home.done("get", address).text == value, "\(address)") }
        #expect(try home.done("--app", "settings", "get", "userDefaults/theme").text == "dark")
        #expect(try home.done("get", "--app=editor", "fileSystem:caches/theme").text == "a cache of editor")
        #expect(try home.done("--app", "settings", "get", "userDefaults:/volume").text == "7")
        let variable = ["LOCALDATA_APP": "editor"]
        #expect(try home.run("get", "fileSystem/theme", adding: variable).text == "a note of editor")
        #expect(try home.run("--app", "settings", "get", "userDefaults/theme", adding: variable).text == "dark")
        #expect(try home.run("-c", "app.id=settings", "get", "userDefaults/theme", adding: variable).text == "dark")
        // What is written so is the app's.
        try home.done("--app", "settings", "set", "userDefaults/size", "12")
        let size = StorageKey<String>(
            name: "size", domain: .userDefaults(), security: .none, serializer: .text, owner: "A", description: "S.")
        let app = try home.app("settings")
        try await app.configure("domains.userDefaults", "file")
        #expect(try await app.get(size) == "12")
    }

    @Test("an app does not read LOCALDATA_APP, whatever a shell exports")
    func variableIsNoApps() throws {
        let home = try Home()
        let end = try home.run(
            "\(BuiltProducts.folder)/migration-exercise", ["own", "theme"], adding: ["LOCALDATA_APP": "settings"])
        #expect(end.status == 0, "\(end.errors)")
        #expect(try home.done("ls").text == "userDefaults:migration-exercise/theme\n")
        #expect(try home.done("ls", "--apps").text == "migration-exercise\n")
    }

    @Test("ls shows whose each value is, and every line of it is an address that get takes")
    func listing() async throws {
        let home = try await home()
        let all = try home.done("ls").text
        #expect(
            all == """
                fileSystem:documents/todo
                fileSystem:editor:caches/theme
                fileSystem:editor:documents/theme
                fileSystem:settings:caches/theme
                fileSystem:settings:documents/theme
                userDefaults/volume
                userDefaults:editor/theme
                userDefaults:settings/theme

                """)
        let own = try home.done("--app", "settings", "ls").text
        #expect(
            own == """
                fileSystem::documents/todo
                fileSystem:caches/theme
                fileSystem:documents/theme
                fileSystem:editor:caches/theme
                fileSystem:editor:documents/theme
                userDefaults/theme
                userDefaults:/volume
                userDefaults:editor/theme

                """)
        for line in own.split(separator: "\n") { try home.done("--app", "settings", "get", String(line)) }
        #expect(try home.done("--app", "settings", "ls", "userDefaults/").text == "userDefaults/theme\n")
        #expect(try home.done("ls", "userDefaults:editor/").text == "userDefaults:editor/theme\n")
        #expect(try home.done("ls", "--apps").text == "editor\nsettings\n")
        let json = try home.done("ls", "--apps", "--json").text
        #expect(json.filter { !$0.isWhitespace } == #"[{"app":"editor"},{"app":"settings"}]"#)
        #expect(try home.run("ls", "--apps", "userDefaults").status == 64)
    }

    @Test("the audit and doctor's audit page name the app of each location")
    func audit() async throws {
        let home = try await home()
        let report = try home.done("audit").text
        for label in [
            "userDefaults:settings", "userDefaults:editor", "fileSystem:settings:documents", "fileSystem:editor:caches",
        ] { #expect(report.contains("\(label): 1 key, "), "\(report)") }
        #expect(try home.done("--app", "settings", "audit", "userDefaults/").text.contains("userDefaults: 1 key, "))
    }

    @Test("completion offers the apps, and the names of the app that is meant")
    func completion() async throws {
        let home = try await home()
        func offered(_ words: String...) throws -> [Substring] {
            try home.run(BuiltProducts.host, ["__complete"] + words).text.split(separator: "\n")
                .map { $0.prefix { $0 != "\t" } }
        }
        #expect(try offered("--app", "") == ["editor", "settings"])
        #expect(try offered("get", "--app=s") == ["--app=settings"])
        #expect(try offered("--app", "settings", "get", "userDefaults/") == ["userDefaults/theme"])
        #expect(
            try offered("get", "userDefaults") == ["userDefaults/", "userDefaults:editor/", "userDefaults:settings/"])
    }

    @Test("a value that is not stored, but is in an app, is found by the hint")
    func hint() async throws {
        let home = try await home()
        let absent = try home.run("get", "userDefaults/theme")
        #expect(absent.status == 1)
        let hint = "the app 'editor' has one, and 'settings' too: ld-host --app editor get userDefaults/theme"
        #expect(
            absent.errors == "ld-host: error: 'userDefaults/theme' is not stored\nld-host: hint: \(hint)\n")
        #expect(try home.done("--app", "editor", "get", "userDefaults/theme").text == "light")
        let cache = try home.run("--app", "settings", "get", "fileSystem:caches/nothing")
        #expect(cache.errors.hasSuffix("hint: run: ld-host ls\n"))
    }

    @Test("an app that is no identifier is refused, and so is a mistyped folder")
    func refused() async throws {
        let home = try Home()
        for words in [["--app", "a/b", "ls"], ["ls", "--app=.x"]] {
            let end = try home.run(BuiltProducts.host, words)
            #expect(end.status == 2 && end.errors.contains("app.id: expected the identifier of an app"))
        }
        for address in ["fileSystem:document/x", "fileSystem:Caches/x", "fileSystem:a b/x", "fileSystem:a:b/x"] {
            #expect(try home.run("get", address).status == 64, "\(address)")
        }
        #expect(try home.run("get", "appGroupFileSystem:group:settings/x").status == 64)
    }

    @Test("a catalog's manifest names the app, so that ld-host applies it to that app's values")
    func manifest() async throws {
        let home = try await home()
        struct Keys: StorageKeyCatalog { let allKeys: [AnyStorageKey] }
        let file = "\(home.path)/settings.catalog.json"
        try CatalogManifest(Keys(allKeys: [.key(Self.theme())]), app: "settings").json()
            .write(to: URL(filePath: file))
        try home.done("config", "set", "catalogs", "[\"\(file)\"]")
        let report = try home.done("audit", "--keys").text
        #expect(report.contains("userDefaults:settings/theme\n  The theme.\n  owner Appearance"), "\(report)")
        #expect(!report.contains("userDefaults:editor/theme\n  The theme."))
    }
}
