import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

/// The README's app from the reader's position: a package outside this one, with one dependency, no configuration and
/// no LocalData variable.
@Suite("An app in a package of its own")
struct AppTests {
    @Test(
        "keeps values at once, encrypted ones with the plugins beside it, and stays with its first store",
        arguments: BuildSystem.allCases)
    func worksAtOnce(_ system: BuildSystem) throws {
        let app = try App(system)
        defer { app.remove() }
        try system.build { scratch in
            try app.swift("build", in: scratch)
            try app.takeFrom(app.products(in: scratch), "SettingsApp")
        }

        let alone = try app.run()
        #expect(alone.isFailed)
        #expect(alone.errorText.contains("no plugin offers the crypto component 'openssl'"))
        #expect(alone.errorText.contains("run 'swift package localdata plugins' to put the plugins beside the program"))

        let libraries = ["libSQLiteStore.so", "libOpenSSLCrypto.so"]
        try system.build { scratch in
            let built = try app.swift(
                "package", in: scratch, "localdata", "plugins", "--plugins", "SQLiteStore,OpenSSLCrypto")
            let products = try app.products(in: scratch)
            for name in libraries {
                #expect(built.contains("\(products)/\(name)\n"), "\(built)")
                try app.takeFrom(products, name)
            }
        }
        #expect(try app.host("get", "userDefaults:SettingsApp/theme") == "\"dark\"")
        #expect(try app.run().lines == ["dark", "token123"])

        // The SQLite store now exists and would serve this domain. Values in files must not disappear.
        #expect(try app.host("get", "userDefaults:SettingsApp/theme") == "\"dark\"")
        #expect(try app.host("config", "get", "domains.userDefaults") == "file")
        let files = "\(app.home)/.local/share/localdata/files"
        #expect(FileManager.default.fileExists(atPath: "\(files)/userDefaults@%53ettings%41pp/theme"))
        #expect(try app.host("init").hasSuffix("config.json"))
        let starter = try String(contentsOfFile: "\(app.home)/.config/localdata/config.json", encoding: .utf8)
        #expect(starter.contains("userDefaults: \"file\""))
    }

    @Test(
        "prints both values at the first swift run of a reader who does what the README says, in its order",
        arguments: BuildSystem.allCases)
    func worksAsTheReadmeSays(_ system: BuildSystem) throws {
        let readme = try Repository.text("README.md")
        let section = try #require(readme.split(separator: "## In an app").last)
        let program = try Repository.text("Examples/SettingsApp/Sources/SettingsApp/SettingsApp.swift")
        let steps = ["\nswift package localdata plugins", program, "`swift run` prints `dark` and `token123`"].map {
            section.firstRange(of: $0)?.lowerBound
        }
        let places = try steps.map { try #require($0) }
        #expect(places == places.sorted())

        let app = try App(system)
        defer { app.remove() }
        let end = try system.build { scratch in
            try app.swift("package", in: scratch, "localdata", "plugins")
            try app.swift("build", in: scratch)
            return try app.run("\(app.products(in: scratch))/SettingsApp")
        }
        #expect(end.lines == ["dark", "token123"], "\(end.errorText)")
    }

    @Test("refuses a plugin, a product and a command that do not exist, and a folder that is no bundle")
    func refuses() throws {
        let system = BuildSystem.native
        let app = try App(system)
        defer { app.remove() }
        try system.build { (scratch) throws in
            func failure(_ arguments: String...) throws -> String {
                let end = try app.start("package", in: scratch, ["localdata"] + arguments)
                #expect(end.outcome != .exited(code: 0))
                return end.errorText
            }
            let unknown = try failure("plugins", "--plugins", "Nothing")
            let known = try ["Backends", "Migrators"].flatMap {
                try FileManager.default.contentsOfDirectory(atPath: "\(Repository.root)/Sources/\($0)")
            }
            .filter { !$0.contains(".") }.sorted()
            #expect(known.count > 5)
            #expect(unknown.contains("no plugin 'Nothing'; expected \(known.joined(separator: ", "))\n"), "\(unknown)")
            #expect(try failure("bundle").contains("the folder is missing"))
            #expect(try failure("bundle", "--to", app.package).contains("is neither empty nor an earlier bundle"))
            let wrong = try failure("bundle", "--to", "\(app.folder)/b", "--product", "Nothing")
            #expect(wrong.contains("no executable product 'Nothing'; it has SettingsApp"))
            #expect(try failure("build").contains("'build' is not a command; expected plugins or bundle"))
        }
    }

    @Test(
        "is a folder that runs in a root with only libc, with files, SQLite and an encrypted key; it may have any plugin",
        .enabled(if: TestRun.isTorture), arguments: BuildSystem.allCases)
    func isBundled(_ system: BuildSystem) throws {
        let app = try App(system)
        defer { app.remove() }
        let (bundle, scratch) = ("\(app.folder)/bundle", "\(app.folder)/build")
        let help = try app.swift("package", in: scratch, "localdata", "--help")
        let known = try #require(help.firstMatch(of: /Plugins are (.+)\./)?.output.1).split(separator: ", ")
        try #require(known.count > 5)
        try app.swift(
            "package", in: scratch, "localdata", "bundle", "--to", bundle, "--plugins", known.joined(separator: ","))
        // The linker removes what nothing in a file calls, but no plugin's entry.
        for plugin in known {
            let shown = try app.host("plugins", "inspect", "\(bundle)/lib/localdata/plugins/lib\(plugin).so")
            #expect(shown.contains(", ABI 1."), "\(shown)")
        }
        for file in known.map({ "lib/localdata/plugins/lib\($0).so" }) + ["bin/SettingsApp"] {
            let content = try #require(FileManager.default.contents(atPath: "\(bundle)/\(file)"))
            for folder in [Repository.root, app.folder] {
                #expect(content.firstRange(of: folder.utf8) == nil, "\(file) names \(folder)")
            }
        }
        let root = try app.emptyRoot()
        try FileManager.default.moveItem(atPath: bundle, toPath: "\(root)/app")
        for _ in 0..<2 {
            let end = try app.run(in: root, "/app/bin/SettingsApp")
            #expect(end.lines == ["dark", "token123"], "\(end.errorText)")
        }
        #expect(FileManager.default.fileExists(atPath: "\(root)/home/.local/share/localdata/values.sqlite"))
    }
}

extension ChildProcess.Completion {
    var lines: [Substring] { String(decoding: output, as: UTF8.self).split(separator: "\n") }
    fileprivate var isFailed: Bool { outcome != .exited(code: 0) }
}
