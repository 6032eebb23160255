import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

@Suite("The C example of a sync transport")
struct CSyncTests {
    private let folder = "\(Repository.root)/Examples/CSync"

    @Test("builds from one C file without a warning, passes its own test and every check")
    func buildsAndPasses() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        try FileManager.default.copyItem(atPath: folder, toPath: "\(workspace.path)/CSync")
        let made = try workspace.run(
            "make", ["-C", "CSync", "INCLUDE=\(Repository.header)", "clean", "all", "test"])
        #expect(made.status == 0 && made.output.contains("CSync: the test passed"), "\(made.output)\(made.errors)")
        #expect(made.output.contains(" passed, 0 failed, "), "\(made.output)")
    }

    @Test("keeps nothing and loses nothing under the address sanitizer")
    func isCleanUnderSanitizers() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        let built = try workspace.run(
            "gcc",
            [
                "-std=c11", "-g", "-pthread", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I",
                Repository.header,
                "\(folder)/test.c", "\(folder)/csync.c", "-o", "test-asan",
            ])
        try #require(built.status == 0, "\(built.errors)")
        let outcome = try workspace.run("./test-asan", [])
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("is what plugins new writes, but for the place of the header")
    func isTheTemplate() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        #expect(
            try workspace.host("plugins", "new", "CSync", "--kind", "sync", "--language", "c").status == 0)
        for file in ["csync.c", "test.c", ".gitignore"] {
            #expect(
                try workspace.text("CSync/\(file)") == Repository.text("Examples/CSync/\(file)"),
                "build it again")
        }
        #expect(
            try workspace.text("CSync/Makefile").replacing(
                "INCLUDE ?= .", with: "INCLUDE ?= ../../Sources/LocalDataAPI/CLocalData/include")
                == Repository.text("Examples/CSync/Makefile"), "build it again")
    }
}
