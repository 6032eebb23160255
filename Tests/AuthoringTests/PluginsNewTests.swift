import FoundationEssentials
import Glibc
import LocalDataHost
import TestSupport
import Testing

@Suite("plugins new")
struct PluginsNewTests {
    @Test(
        "makes the component's id out of the name",
        arguments: [
            ("MyStore", "my-store"), ("HTTP2Store", "http2-store"), ("S3", "s3"), ("SQLiteKV", "sq-lite-kv"),
            ("Notes", "notes"), ("A", "a"), ("AStore", "a-store"),
        ])
    func component(name: String, id: String) throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        let outcome = try workspace.host("plugins", "new", name, "--language", "c")
        #expect(outcome.status == 0)
        #expect(outcome.errors.contains("component '\(id)'"))
        #expect(try workspace.text("\(name)/\(name.lowercased()).c").contains(".id = TEXT(\"\(id)\")"))
    }

    @Test(
        "writes a copy of the example of its kind and language, except for the path to this repository",
        arguments: ["c", "swift"],
        [("storage", "Backend"), ("crypto", "Crypto"), ("migration", "Migration"), ("sync", "Sync")])
    func copies(language: String, kind: (name: String, example: String)) throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        let name = language.capitalized + kind.example
        let made = try workspace.host("plugins", "new", name, "--kind", kind.name, "--language", language)
        try #require(made.status == 0, "\(made.errors)")
        let files = made.output.split(separator: "\n").map(String.init)
        #expect(files.count >= 6)
        for file in files {
            let isHeader = file.hasSuffix("/localdata/plugin.h")
            let example = isHeader ? "\(Self.include)/localdata/plugin.h" : "Examples/\(file)"
            let copied = try workspace.text(file).replacing("INCLUDE ?= .", with: "INCLUDE ?= ../../\(Self.include)")
                .replacing("path: \"\(Repository.root)\"", with: "path: \"../..\"")
            #expect(try copied == Repository.text(example), "\(file)")
        }
        // All of the example is there, but for what is built in its folder.
        let built = [".so", "/test-\(name.lowercased())", "/Package.resolved"]
        let all = Repository.files(below: "Examples/\(name)") { path in
            var status = stat()
            return stat("\(Repository.root)/\(path)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG
                && !built.contains { path.hasSuffix($0) }
        }
        let copied = files.filter { !$0.hasSuffix("/localdata/plugin.h") }.map { "Examples/\($0)" }
        #expect(Set(all) == Set(copied))
    }

    @Test(
        "replaces the example's name once, also in a name that has it in it",
        arguments: [
            ("storage", "swift", "SwiftbackendStore"), ("storage", "swift", "MySwiftBackend"),
            ("sync", "swift", "Myswiftsync"), ("storage", "c", "CbackendCBackend"), ("sync", "c", "Publicsync"),
            ("storage", "c", "Mycbackend"),
        ])
    func replacesOnce(kind: String, language: String, name: String) throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        let example = (language == "c" ? "C" : "Swift") + (kind == "sync" ? "Sync" : "Backend")
        let original = try workspace.host("plugins", "new", example, "--kind", kind, "--language", language)
        let made = try workspace.host("plugins", "new", name, "--kind", kind, "--language", language)
        try #require(original.status == 0 && made.status == 0, "\(made.errors)")
        let id = try #require(made.errors.firstMatch(of: /component '([^']*)'/)?.1)
        let component = try #require(original.errors.firstMatch(of: /component '([^']*)'/)?.1)
        let forms = try Regex("\(example)|\(component)|\(example.lowercased())")
        func renamed(_ text: String) -> String {
            text.replacing(forms) { found in
                switch text[found.range] {
                case component: String(id)
                case example[...]: name
                default: name.lowercased()
                }
            }
        }
        for file in original.output.split(separator: "\n").map(String.init) {
            #expect(try workspace.text(renamed(file)) == renamed(workspace.text(file)), "\(file)")
        }
    }

    @Test("keeps LocalData's path as it is, and names a repository's package as its URL does")
    func sources() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        for folder in ["swift-sync", "SwiftSync"] {
            let copy = "\(workspace.path)/\(folder)"
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                atPath: "\(Repository.root)/Package.swift", toPath: "\(copy)/Package.swift")
            let made = try workspace.host("plugins", "new", "My\(folder.count)", "--kind", "sync", "--localdata", copy)
            #expect(made.status == 0, "\(made.errors)")
            #expect(try workspace.text("My\(folder.count)/Package.swift").contains("path: \"\(copy)\""))
        }
        let url = "https://example.com/swift-sync/storage-kit.git"
        #expect(try workspace.host("plugins", "new", "Far", "--kind", "sync", "--localdata", url).status == 0)
        let manifest = try workspace.text("Far/Package.swift")
        #expect(manifest.contains("url: \"\(url)\"") && manifest.contains("package: \"storage-kit\""), "\(manifest)")
        #expect(!manifest.contains("package: \"LocalData\""), "\(manifest)")
        #expect(try !workspace.text("Far/README.md").contains("Before you publish"))
    }

    private static let include = "Sources/LocalDataAPI/CLocalData/include"

    @Test(
        "refuses a name that is not upper camel case, or taken, and writes nothing",
        arguments: [
            ("my-store", "upper camel case", "plugins new MyStore"), ("myStore", "upper camel case", "MyStore"),
            ("", "upper camel case", "MyStore"), ("9Lives", "upper camel case", "MyStore"),
            ("My Store", "upper camel case", "MyStore"), ("../Up", "upper camel case", "Up"),
            ("Größe", "upper camel case", "plugins new"), ("My_Store", "upper camel case", "MyStore"),
            ("Data", "is taken", "MyData"), ("FileStore", "is taken", "MyFileStore"),
            ("Memory", "is taken", "MyMemory"), ("JSON", "is taken", "MyJSON"), ("Sqlite", "is taken", "MySqlite"),
            ("ThemeMigration", "is taken", "MyThemeMigration"),
            (String(repeating: "Ab", count: 22), "has 65 bytes", "shorter"),
        ])
    func names(name: String, message: String, hint: String) throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        let outcome = try workspace.host("plugins", "new", name, "--language", "c")
        let lines = outcome.errors.split(separator: "\n")
        #expect(outcome.status == 64)
        #expect(lines.count == 2)
        #expect(lines.first?.contains(message) == true && lines.last?.contains(hint) == true, "\(outcome.errors)")
        #expect(try workspace.names() == ["home"])
    }

    @Test(
        "explains in each package how to serve its component, and what a Swift package needs before it is distributed",
        arguments: [
            ("storage", "ld-host config set domains.userDefaults my-thing"),
            ("crypto", "ld-host config set encryption.provider my-thing"),
            ("sync", "ld-host config set sync.transport my-thing"),
            ("migration", "ld-host config set migrations.packs.mine.component my-thing"),
        ])
    func serving(kind: String, command: String) throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        #expect(try workspace.host("plugins", "new", "MyThing", "--kind", kind).status == 0)
        let readme = try workspace.text("MyThing/README.md")
        #expect(readme.contains("\n\(command)\n") && readme.contains("Before you publish the package"), "\(readme)")
        let lines = try workspace.text("MyThing/Package.swift").split(separator: "\n")
        let path = try #require(lines.firstIndex { $0.contains("path: ") })
        #expect(lines[path - 1].contains("// .package(url: ") && lines[path - 2].contains("Before you publish"))
        #expect(try workspace.host("plugins", "new", "MyCThing", "--kind", kind, "--language", "c").status == 0)
        let own = command.replacing("my-thing", with: "my-c-thing")
        #expect(try workspace.text("MyCThing/README.md").contains("\n\(own)\n"))
    }

    @Test("writes a specific package for a migration pack, in both languages")
    func migration() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        #expect(try workspace.host("plugins", "new", "MyPack", "--kind", "migration").status == 0)
        #expect(try workspace.text("MyPack/Sources/MyPack/MyPackPlugin.swift").contains(".migrations(MyPack.self)"))
        #expect(
            try workspace.host("plugins", "new", "MyCPack", "--kind", "migration", "--language", "c").status == 0)
        #expect(try workspace.text("MyCPack/mycpack.c").contains(#".id = TEXT("my-c-pack")"#))
    }

    @Test("writes a specific package for a sync transport, in both languages")
    func sync() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        #expect(try workspace.host("plugins", "new", "MySync", "--kind", "sync").status == 0)
        #expect(try workspace.text("MySync/Sources/MySync/MySyncPlugin.swift").contains(".sync(MySync.self)"))
        #expect(try workspace.host("plugins", "new", "MyCSync", "--kind", "sync", "--language", "c").status == 0)
        #expect(try workspace.text("MyCSync/mycsync.c").contains(#".id = TEXT("my-c-sync")"#))
        // Its records' magic number does not grow with the name.
        let made = try workspace.run("make", ["-C", "MyCSync"])
        #expect(made.status == 0, "\(made.errors)")
        let long = "ReplicationThroughSharedFolders"
        #expect(try workspace.host("plugins", "new", long, "--kind", "sync", "--language", "c").status == 0)
        let tested = try workspace.run("make", ["-C", long, "test"])
        #expect(tested.status == 0, "\(tested.errors)\(tested.output)")
    }

    @Test("writes a specific package for a crypto plugin, in both languages")
    func crypto() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        #expect(try workspace.host("plugins", "new", "MyCrypto", "--kind", "crypto").status == 0)
        #expect(try workspace.text("MyCrypto/Package.swift").contains(#".apt(["libsodium-dev"])"#))
        #expect(try workspace.text("MyCrypto/Sources/MyCrypto/MyCryptoPlugin.swift").contains(".crypto(MyCrypto.self)"))
        #expect(
            try workspace.host("plugins", "new", "MyCCrypto", "--kind", "crypto", "--language", "c").status == 0)
        #expect(try workspace.text("MyCCrypto/myccrypto.c").contains(#".id = TEXT("my-c-crypto")"#))
    }

    @Test(
        "refuses options that make no sense, and writes nothing",
        arguments: [
            (["--kind", "shop"], Int32(64), "there is no kind of plugin 'shop'"),
            (["--language", "rust"], 64, "there is no template in the language 'rust'"),
            (["--language", "c", "--localdata", "/"], 64, "needs no --localdata"),
            (["--localdata", "/usr"], 2, "'/usr' is not LocalData's package"),
        ])
    func options(options: [String], status: Int32, message: String) throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        let outcome = try workspace.run("ld-host", ["plugins", "new", "MyStore"] + options)
        #expect(outcome.status == status)
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
        #expect(try workspace.names() == ["home"])
    }

    @Test("overwrites nothing: neither a folder with something in it, nor a file, nor a symbolic link")
    func overwritesNothing() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        try workspace.write("mine", to: "Full/Makefile")
        try workspace.write("mine", to: "Afile")
        try FileManager.default.createDirectory(atPath: "\(workspace.path)/Empty", withIntermediateDirectories: true)
        #expect(symlink("Empty", "\(workspace.path)/Link") == 0)
        for name in ["Full", "Afile", "Link"] {
            let outcome = try workspace.host("plugins", "new", name, "--language", "c")
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("'\(name)' is there already"), "\(outcome.errors)")
        }
        #expect(try workspace.names() == ["home", "Full", "Afile", "Empty", "Link"])
        #expect(try workspace.names(in: "Full") == ["Makefile"])
        #expect(try workspace.text("Full/Makefile") == "mine" && workspace.text("Afile") == "mine")
        #expect(try workspace.names(in: "Empty").isEmpty)
        #expect(try workspace.host("plugins", "new", "Empty", "--language", "c").status == 0)
        #expect(try workspace.names(in: "Empty").contains("empty.c"))
    }

    @Test("finds LocalData's source where ld-host was built, and asks for it elsewhere; C needs none")
    func findsTheCheckout() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        let tools = try #require(PluginSearchPath.executable).split(separator: "/").dropLast().joined(separator: "/")
        try ProgramCopy.make(of: "/\(tools)/ld-host", at: workspace.path)
        let moved = "\(workspace.path)/ld-host"

        let outcome = try workspace.run(moved, ["plugins", "new", "MyStore"])
        #expect(outcome.status == 2)
        #expect(
            outcome.errors.contains("hint: name its folder or the URL of its repository: --localdata SOURCE"),
            "\(outcome.errors)")
        #expect(try workspace.run(moved, ["plugins", "new", "MyCStore", "--language", "c"]).status == 0)
        let root = Repository.root
        #expect(try workspace.run(moved, ["plugins", "new", "MyStore", "--localdata", root]).status == 0)
        #expect(try workspace.host("plugins", "new", "Other").status == 0)
        let named = try workspace.text("MyStore/Package.swift")
        let found = try workspace.text("Other/Package.swift")
        #expect(named.replacing("MyStore", with: "Other") == found)
    }

    @Test("depends on a release of LocalData's repository if that is named")
    func dependsOnARelease() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        let repository = "\(workspace.path)/LocalData"
        try FileManager.default.createDirectory(atPath: repository, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: "\(Repository.root)/Package.swift", toPath: "\(repository)/Package.swift")
        let version = try workspace.host("version", "--json").output.split(separator: "\"").dropLast().last ?? ""
        let git = "git -C \(repository) -c user.name=a -c user.email=a@b"
        let release = "\(git) init -q && \(git) add . && \(git) commit -qm 1 && \(git) tag \(version)"
        #expect(try workspace.run("/bin/sh", ["-c", release]).status == 0)

        let url = "file://\(repository)"
        #expect(try workspace.host("plugins", "new", "MyStore", "--localdata", url).status == 0)
        let line = "dependencies: [.package(url: \"\(url)\", from: \"\(version)\")],"
        #expect(try workspace.text("MyStore/Package.swift").contains("\n    \(line)\n"))
        let resolved = try workspace.run(
            "swift", ["package", "--package-path", "\(workspace.path)/MyStore", "resolve"])
        #expect(resolved.status == 0, "\(resolved.errors)")
        #expect(try workspace.names(in: "MyStore/.build/checkouts") == ["LocalData"])
    }
}
