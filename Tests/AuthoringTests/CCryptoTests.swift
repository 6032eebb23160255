import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

@Suite("The C example of a crypto provider")
struct CCryptoTests {
    private let folder = "\(Repository.root)/Examples/CCrypto"

    @Test("builds from one C file without a warning, passes its own test and every check, and needs only libsodium")
    func buildsAndPasses() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        try FileManager.default.copyItem(atPath: folder, toPath: "\(workspace.path)/CCrypto")
        let made = try workspace.run(
            "make", ["-C", "CCrypto", "INCLUDE=\(Repository.header)", "clean", "all", "test"])
        #expect(made.status == 0 && made.output.contains("CCrypto: the test passed"), "\(made.output)\(made.errors)")
        #expect(made.output.contains(" passed, 0 failed, "), "\(made.output)")
        let needed = try workspace.run("readelf", ["--dynamic", "--wide", "CCrypto/libCCrypto.so"]).output
            .split(separator: "\n").filter { $0.contains("(NEEDED)") }
        #expect(needed.contains { $0.contains("[libsodium.so.") }, "\(needed)")
        #expect(needed.allSatisfy { $0.contains("[libsodium.so.") || $0.contains("[libc.so.6]") }, "\(needed)")
    }

    @Test("keeps nothing and loses nothing under the address sanitizer")
    func isCleanUnderSanitizers() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        let built = try workspace.run(
            "gcc",
            [
                "-std=c11", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I", Repository.header,
                "\(folder)/test.c", "\(folder)/ccrypto.c", "-lsodium", "-o", "test-asan",
            ])
        try #require(built.status == 0, "\(built.errors)")
        let outcome = try workspace.run("./test-asan", [])
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("is what plugins new writes, but for the place of the header")
    func isTheTemplate() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        #expect(try workspace.host("plugins", "new", "CCrypto", "--kind", "crypto", "--language", "c").status == 0)
        for file in ["ccrypto.c", "test.c", ".gitignore"] {
            #expect(
                try workspace.text("CCrypto/\(file)") == Repository.text("Examples/CCrypto/\(file)"),
                "build it again")
        }
        #expect(
            try workspace.text("CCrypto/Makefile").replacing(
                "INCLUDE ?= .", with: "INCLUDE ?= ../../Sources/LocalDataAPI/CLocalData/include")
                == Repository.text("Examples/CCrypto/Makefile"), "build it again")
    }
}
