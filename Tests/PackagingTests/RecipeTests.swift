import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

@Suite("The recipe of the Debian packages")
struct RecipeTests {
    /// The plugins of Package.swift.
    private let plugins: Set<String>
    /// The plugins that wrap a separate system library. SQLite is in the package of the programs, as the default store.
    private let withLibrary: Set<String>

    init() throws {
        let manifest = try Repository.text("Package.swift")
        plugins = Set(try Self.names(in: manifest, of: "backends") + Self.names(in: manifest, of: "migrators"))
        withLibrary = Set(try Self.names(in: manifest, of: "libraries")).intersection(plugins)
            .subtracting(["SQLiteStore"])
        try #require(plugins.count >= 7 && withLibrary.count >= 3)
    }

    @Test("installs every plugin of Package.swift")
    func installsAll() throws {
        let script = try Repository.text(".ci/packaging/install")
        let line = try #require(script.split(separator: "\n").first { $0.hasPrefix("plugins=") })
        let shell = ChildProcess(
            "/bin/sh", arguments: ["-c", "cd \"$0\"; \(line)\necho $plugins", Repository.root],
            environment: ["PATH": "/usr/bin:/bin"])
        let list = try shell.run(deadline: .seconds(60))
        #expect(list.outcome == .exited(code: 0))
        let found = String(decoding: list.output, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        #expect(found.count == plugins.count && Set(found.map(String.init)) == plugins)
    }

    @Test("puts each plugin into one package, and one with a library into a separate package that control describes")
    func packagesEach() throws {
        let control = try Repository.text(".ci/packaging/debian/control").split(separator: "\n")
            .filter { $0.hasPrefix("Package: ") }.map { String($0.dropFirst("Package: ".count)) }
        var packages: [String: [String]] = [:]
        for package in control {
            for line in try Repository.text(".ci/packaging/debian/\(package).install").split(separator: "\n")
            where line.hasPrefix("usr/lib/localdata/plugins/lib") {
                let plugin = String(line.dropFirst("usr/lib/localdata/plugins/lib".count).dropLast(".so".count))
                packages[plugin, default: []].append(package)
            }
        }
        #expect(Set(packages.keys) == plugins)
        for (plugin, found) in packages {
            #expect(found.count == 1, "\(plugin): \(found)")
            #expect(found.contains("localdata") != withLibrary.contains(plugin), "\(plugin): \(found)")
        }
        #expect(Set(withLibrary.compactMap { packages[$0]?.first }).count == withLibrary.count)
        #expect(control.contains("liblocaldata-dev"))
    }

    @Test(
        "installs the guides that messages name",
        arguments: [
            "Sources/Migrators/StandardMigrations/Manifest/Reading/ManifestFaults.swift",
            "Sources/ld-host/Clients/Pipe/PipeFrame.swift", "Sources/ld-host/Clients/Pipe/PipeService.swift",
        ])
    func guides(_ file: String) throws {
        let script = try Repository.text(".ci/packaging/install")
        #expect(
            script.contains("for guide in Sources/LocalDataAPI/LocalDataAPI.docc/*.md Sources/ld-host/*/*.docc/*.md"))
        let named = try Repository.text(file).split(separator: "see the guide ").dropFirst()
            .compactMap { $0.split(separator: ",").first }
        #expect(!named.isEmpty)
        for guide in named {
            #expect(try !Repository.text("Sources/LocalDataAPI/LocalDataAPI.docc/\(guide)").isEmpty)
        }
    }

    /// The plugin names in a list or dictionary constant of Package.swift.
    private static func names(in manifest: String, of constant: String) throws -> [String] {
        let start = try #require(manifest.firstRange(of: "let \(constant) = ["))
        let end = try #require(manifest[start.upperBound...].firstIndex(of: "]"))
        let words = manifest[start.upperBound..<end].split(separator: "\"", omittingEmptySubsequences: false)
        return words.indices.filter { $0 % 2 == 1 }.map { String(words[$0]) }
    }
}
