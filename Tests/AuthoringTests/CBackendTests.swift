import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("The C example")
struct CBackendTests {
    private let folder = "\(Repository.root)/Examples/CBackend"

    @Test("builds from one C file without a warning, passes its own test and every check, and needs nothing of Swift")
    func buildsAndPasses() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        try FileManager.default.copyItem(atPath: folder, toPath: "\(workspace.path)/CBackend")
        let made = try workspace.run(
            "make", ["-C", "CBackend", "INCLUDE=\(Repository.header)", "clean", "all", "test"])
        #expect(made.status == 0 && made.output.contains("CBackend: the test passed"), "\(made.output)\(made.errors)")
        #expect(made.output.contains(" passed, 0 failed, "), "\(made.output)")
        let needed = try workspace.run("readelf", ["--dynamic", "--wide", "CBackend/libCBackend.so"]).output
            .split(separator: "\n").filter { $0.contains("(NEEDED)") }
        #expect(needed.count == 1 && needed.allSatisfy { $0.contains("[libc.so.6]") }, "\(needed)")
    }

    @Test("keeps nothing and loses nothing under the address sanitizer")
    func isCleanUnderSanitizers() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        let built = try workspace.run(
            "gcc",
            [
                "-std=c11", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-pthread", "-I",
                Repository.header,
                "\(folder)/test.c", "\(folder)/cbackend.c", "-o", "test-asan",
            ])
        try #require(built.status == 0, "\(built.errors)")
        let outcome = try workspace.run("./test-asan", [])
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("is what plugins new writes, but for the place of the header")
    func isTheTemplate() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        #expect(try workspace.host("plugins", "new", "CBackend", "--language", "c").status == 0)
        for file in ["cbackend.c", "test.c", ".gitignore"] {
            #expect(
                try workspace.text("CBackend/\(file)") == Repository.text("Examples/CBackend/\(file)"),
                "build it again")
        }
        #expect(
            try workspace.text("CBackend/Makefile").replacing(
                "INCLUDE ?= .", with: "INCLUDE ?= ../../Sources/LocalDataAPI/CLocalData/include")
                == Repository.text("Examples/CBackend/Makefile"), "build it again")
        #expect(
            try workspace.text("CBackend/localdata/plugin.h")
                == Repository.text("Sources/LocalDataAPI/CLocalData/include/localdata/plugin.h"),
            "build it again")
    }

    @Test("serves typed keys through a router, each configured store with values of its own")
    func servesKeys() async throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        let library = try workspace.build("\(folder)/cbackend.c", header: Repository.header)
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
