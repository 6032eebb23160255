import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

@Suite("The C example of a migration pack")
struct CMigrationTests {
    private let folder = "\(Repository.root)/Examples/CMigration"

    @Test("builds from one C file without a warning, passes its own test and every check")
    func buildsAndPasses() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        try FileManager.default.copyItem(atPath: folder, toPath: "\(workspace.path)/CMigration")
        let made = try workspace.run(
            "make", ["-C", "CMigration", "INCLUDE=\(Repository.header)", "clean", "all", "test"])
        #expect(made.status == 0 && made.output.contains("CMigration: the test passed"), "\(made.output)\(made.errors)")
        #expect(made.output.contains(" passed, 0 failed, "), "\(made.output)")
    }

    @Test("keeps nothing and loses nothing under the address sanitizer")
    func isCleanUnderSanitizers() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        let built = try workspace.run(
            "gcc",
            [
                "-std=c11", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I", Repository.header,
                "\(folder)/test.c", "\(folder)/cmigration.c", "-o", "test-asan",
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
            try workspace.host("plugins", "new", "CMigration", "--kind", "migration", "--language", "c").status == 0)
        for file in ["cmigration.c", "test.c", ".gitignore"] {
            #expect(
                try workspace.text("CMigration/\(file)") == Repository.text("Examples/CMigration/\(file)"),
                "build it again")
        }
        #expect(
            try workspace.text("CMigration/Makefile").replacing(
                "INCLUDE ?= .", with: "INCLUDE ?= ../../Sources/LocalDataAPI/CLocalData/include")
                == Repository.text("Examples/CMigration/Makefile"), "build it again")
    }
}
