import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

/// An example plugin in C, which `plugins new` also writes.
struct CExample: Sendable, CustomTestStringConvertible {
    /// The name of its folder and library.
    let name: String
    /// The kind that `plugins new` takes.
    let kind: String
    /// The library that it needs besides the C library, without `lib` and `.so`.
    var library: String?

    static let backend = CExample(name: "CBackend", kind: "storage")
    static let all = [
        backend, CExample(name: "CCrypto", kind: "crypto", library: "sodium"),
        CExample(name: "CMigration", kind: "migration"), CExample(name: "CSync", kind: "sync"),
    ]

    var testDescription: String { name }
    var folder: String { "\(Repository.root)/Examples/\(name)" }
    /// The name of its C file.
    var file: String { "\(name.lowercased()).c" }
}

@Suite("The C examples")
struct CExampleTests {
    @Test(
        "build from one C file without a warning, pass their own tests and every check, and need no Swift library",
        arguments: CExample.all)
    func buildsAndPasses(_ example: CExample) throws {
        let (workspace, name) = (try Workspace(), example.name)
        defer { workspace.remove() }
        try FileManager.default.copyItem(atPath: example.folder, toPath: "\(workspace.path)/\(name)")
        let made = try workspace.run("make", ["-C", name, "INCLUDE=\(Repository.header)", "clean", "all", "test"])
        #expect(made.status == 0 && made.output.contains("\(name): the test passed"), "\(made.output)\(made.errors)")
        #expect(made.output.contains(" passed, 0 failed, "), "\(made.output)")
        let needed = try workspace.run("readelf", ["--dynamic", "--wide", "\(name)/lib\(name).so"]).output
            .split(separator: "\n").filter { $0.contains("(NEEDED)") }
        let library = example.library.map { "[lib\($0).so." }
        #expect(library.map { library in needed.contains { $0.contains(library) } } ?? true, "\(needed)")
        #expect(
            needed.allSatisfy { line in line.contains("[libc.so.6]") || library.map { line.contains($0) } ?? false },
            "\(needed)")
    }

    @Test("leak no memory and pass under the address sanitizer", arguments: CExample.all)
    func isCleanUnderSanitizers(_ example: CExample) throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        let built = try workspace.run(
            "gcc",
            [
                "-std=c11", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-pthread", "-I",
                Repository.header, "\(example.folder)/test.c", "\(example.folder)/\(example.file)",
            ] + (example.library.map { ["-l\($0)"] } ?? []) + ["-o", "test-asan"])
        try #require(built.status == 0, "\(built.errors)")
        let outcome = try workspace.run("./test-asan", [])
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("the store in C serves typed keys through a router, each configured store with values of its own")
    func servesKeys() async throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        let library = try workspace.build("\(CExample.backend.folder)/cbackend.c", header: Repository.header)
        let router = StorageRouter(
            configuration: try HostConfiguration(
                text: """
                    { plugins: { path: ["\(library)"] }, directories: { cache: "\(workspace.path)/cache" },
                      stores: { one: { component: "c-backend" }, two: { component: "c-backend" } },
                      domains: { userDefaults: "one", fileSystem: "two" } }
                    """))
        let theme = StorageKey<String>(
            name: "theme", domain: .userDefaults(), security: .none, owner: "test", description: "A theme.")
        let other = StorageKey<String>(
            name: "theme", domain: .fileSystem(directory: .documents), security: .none, owner: "test",
            description: "Another.")
        await #expect(throws: StorageError.notFound) { try await router.get(theme) }
        try await router.set("light", for: theme)
        try await router.set("dark", for: theme)
        #expect(try await router.get(theme) == "dark")
        await #expect(throws: StorageError.notFound) { try await router.get(other) }
        #expect(try await router.names(in: .userDefaults()) == ["theme"])
        try await router.remove(theme)
        await #expect(throws: StorageError.notFound) { try await router.get(theme) }
    }
}
