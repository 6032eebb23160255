import FoundationEssentials
import Glibc
import LocalDataHost
import TestSupport
import Testing

@Suite("the libraries and exports of the built files", .waitsForPrograms) struct LinkageTests {
    /// Libraries that only single plugins need, or that slow down the start.
    static let unwanted = [
        "libsecret", "libglib", "libgobject", "libgio", "libcrypto", "libssl", "libsodium", "libsqlite3", "libpq",
        "libnats",
        "libFoundation.so", "libFoundationInternationalization", "lib_FoundationICU",
    ]

    private static var folder: String { (try? FixtureBuilder.host).map { String($0.dropLast("/ld-host".count)) } ?? "" }

    /// The plugins that the package builds: one for each folder of backends and migrators that is more than a
    /// placeholder.
    static let plugins: [String] = ["Backends", "Migrators"].flatMap { kind in
        let kind = "\(Repository.root)/Sources/\(kind)"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: kind)) ?? []
        return names.sorted().filter { name in
            let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(kind)/\(name)")) ?? []
            return files.contains { $0.hasSuffix(".swift") && $0 != "Placeholder.swift" }
        }.map { "lib\($0).so" }
    }

    private func run(_ program: String, _ arguments: String...) throws -> String {
        let end = try ChildProcess(
            program, arguments: arguments, environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C"]
        )
        .run(deadline: .seconds(60))
        try #require(end.outcome == .exited(code: 0), "\(program) \(end.outcome): \(end.errorText)")
        return String(decoding: end.output, as: UTF8.self)
    }

    @Test("there are plugins to inspect")
    func somethingToLookAt() {
        #expect(Self.plugins.contains("libMemoryStore.so") && Self.plugins.contains("libStandardMigrations.so"))
    }

    @Test(
        "neither the host nor a store of plain files needs a library that only another plugin uses",
        arguments: ["ld-host", "libMemoryStore.so", "libFileStore.so", "libStandardMigrations.so"])
    func needed(_ name: String) throws {
        let dynamic = try run("/usr/bin/readelf", "-dW", "\(Self.folder)/\(name)")
        let needed = dynamic.split(separator: "\n").filter { $0.contains("(NEEDED)") }
        #expect(needed.contains { $0.contains("libc.so.6") }, "readelf was not understood")
        for library in Self.unwanted { #expect(!needed.contains { $0.contains("[\(library)") }) }
        let loaded = try run("/usr/bin/ldd", "\(Self.folder)/\(name)")
        #expect(loaded.contains("libFoundationEssentials.so"), "ldd was not understood")
        for library in Self.unwanted { #expect(!loaded.contains("\(library)")) }
    }

    /// The names of the libraries that a built file itself needs.
    private func libraries(of name: String) throws -> Set<String> {
        let dynamic = try run("/usr/bin/readelf", "-dW", "\(Self.folder)/\(name)")
        let lines = dynamic.split(separator: "\n").filter { $0.contains("(NEEDED)") }
        return Set(lines.compactMap { $0.split(separator: "[").last?.split(separator: "]").first.map(String.init) })
    }

    @Test(
        "a plugin needs only the library that it wraps, besides those of a store of plain files",
        arguments: [
            ("libOpenSSLCrypto.so", "libcrypto.so"), ("libSodiumCrypto.so", "libsodium.so"),
            ("libSQLiteStore.so", "libsqlite3.so"), ("libPostgreSQLStore.so", "libpq.so"),
            ("libNATSSync.so", "libnats.so"),
        ])
    func wrapped(_ name: String, _ library: String) throws {
        let own = try libraries(of: name).subtracting(libraries(of: "libFileStore.so"))
        #expect(own.count == 1)
        #expect(own.allSatisfy { $0.hasPrefix(library) }, "\(own)")
    }

    @Test("the plugin of the secret service needs libsecret and GLib, besides those of a store of plain files")
    func wrapsSecrets() throws {
        let own = try libraries(of: "libSecretService.so").subtracting(libraries(of: "libFileStore.so"))
        #expect(own == ["libsecret-1.so.0", "libgio-2.0.so.0", "libgobject-2.0.so.0", "libglib-2.0.so.0"])
    }

    @Test(
        "no other built file loads libsecret or GLib, not even through another library",
        arguments: ["ld-host"] + plugins.filter { $0 != "libSecretService.so" })
    func loadsNoSecrets(_ name: String) throws {
        let loaded = try run("/usr/bin/ldd", "\(Self.folder)/\(name)")
        #expect(loaded.contains("libc.so.6"), "ldd was not understood")
        for library in ["libsecret", "libglib", "libgobject", "libgio"] { #expect(!loaded.contains(library)) }
    }

    @Test("a plugin exports one function besides Swift's own, its entry", arguments: plugins)
    func exports(_ name: String) throws {
        let table = try run("/usr/bin/nm", "-D", "--defined-only", "\(Self.folder)/\(name)")
        var functions: [String] = []
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ").map { String($0) }
            let isFunction = words.count == 3 && ["T", "W", "i"].contains(words[1])
            if isFunction, !words[2].hasPrefix("$s") { functions.append(words[2]) }
        }
        #expect(functions == ["localdata_plugin_v1"])
    }

    /// Every installed compiler, with the language to compile.
    static let compilers: [[String]] = {
        let folders = (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":") + ["/usr/bin"]
        func find(_ name: String) -> String? { folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 } }
        return [
            find("gcc").map { [$0, "-xc", "-std=c11"] }, find("g++").map { [$0, "-xc++", "-std=c++17"] },
            find("clang").map { [$0, "-xc", "-std=c11"] }, find("clang++").map { [$0, "-xc++", "-std=c++17"] },
        ].compactMap { $0 }
    }()

    @Test("the header compiles alone, as C11 and as C++17, without a warning", arguments: compilers)
    func header(_ compiler: [String]) throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let source = try fixture.write(
            """
            #include <localdata/plugin.h>
            #include <localdata/plugin.h>
            LD_EXPORT const void *localdata_plugin_v1(void);
            const void *localdata_plugin_v1(void) { return 0; }

            """.utf8, to: "alone")
        let end = try ChildProcess(
            compiler[0],
            arguments: compiler.dropFirst() + [
                "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                "-I\(Repository.header)", source,
            ], environment: ["PATH": "/usr/bin:/bin"]
        ).run(deadline: .seconds(60))
        #expect(end.outcome == .exited(code: 0), "\(end.errorText)")
    }

    @Test("both languages of the header are tested")
    func someCompilers() {
        #expect(Self.compilers.contains { $0.contains("-std=c11") })
        #expect(Self.compilers.contains { $0.contains("-std=c++17") })
    }
}
