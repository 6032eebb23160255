import Glibc
import LocalDataAPI
import LocalDataHost
import Testing

@Suite("the libraries that a plugin needs", .waitsForPrograms) struct LibraryTrustTests {
    /// Builds a plugin that needs `libdep.so`, which is in the folder `from`.
    private func plugin(_ scratch: PluginScratch, _ runPath: String?, from folder: String) throws -> String {
        let library = try scratch.compile("int dep(void) { return 1; }", to: "\(folder)/libdep.so")
        try #require(chmod(library, 0o755) == 0)
        var options = ["-shared", "-fPIC", "-L\(folder)", "-Wl,--no-as-needed", "-ldep"]
        if let runPath { options.append("-Wl,-rpath,\(runPath)") }
        let path = try scratch.compile("int localdata_plugin_v1(void) { return 1; }", to: "libRP.so", options)
        try #require(chmod(path, 0o755) == 0)
        return path
    }

    private func inspect(_ path: String) throws { _ = try PluginFile(checking: FileTrust.check(path), abiMajor: 1) }

    @Test(
        "a run path that is empty, relative or cannot be expanded is refused",
        arguments: [".", "", "$ORIGIN:", "lib", "$ORIGIN:lib:/usr/lib", "../x", "$ORIGINx", "/usr/$LIB", "~/lib"])
    func refusesRelative(_ runPath: String) throws {
        try PluginScratch.with { scratch in
            _ = try scratch.folder("lib")
            // The linker omits an empty run path; before another entry, it becomes an empty entry.
            let path = try plugin(scratch, runPath.isEmpty ? ":/usr/lib" : runPath, from: "lib")
            let error = try PluginScratch.refusal { try inspect(path) }
            #expect(error.message.contains("looks for libraries in"), "\(error.message)")
            #expect(error.hint.contains("$ORIGIN"))
        }
    }

    @Test(
        "a folder of the run path that others can write to is refused, also with the sticky bit",
        arguments: [0o777, 0o1777, 0o775])
    func refusesOpenFolder(_ mode: Int) throws {
        try PluginScratch.with { scratch in
            let folder = try scratch.folder("open")
            let path = try plugin(scratch, folder, from: "open")
            #expect(throws: Never.self) { try inspect(path) }
            try #require(chmod(folder, mode_t(mode)) == 0)
            let error = try PluginScratch.refusal { try inspect(path) }
            #expect(error.message.contains(folder) && error.message.contains("writable by"), "\(error.message)")
        }
    }

    @Test("a folder of the run path that anyone could create is refused")
    func refusesMissingFolder() throws {
        try PluginScratch.with { scratch in
            _ = try scratch.folder("lib")
            let path = try plugin(scratch, "/tmp/localdata-nobody-made-this/lib", from: "lib")
            let error = try PluginScratch.refusal { try inspect(path) }
            #expect(error.message.contains("'/tmp/localdata-nobody-made-this/lib'"), "\(error.message)")
            _ = try plugin(scratch, "/usr/lib/localdata-missing", from: "lib")
            #expect(throws: Never.self) { try inspect(path) }
        }
    }

    @Test("a library next to the plugin that others can write is refused")
    func refusesOpenLibrary() throws {
        try PluginScratch.with { scratch in
            _ = try scratch.folder("lib")
            let path = try plugin(scratch, "$ORIGIN/lib", from: "lib")
            try #require(chmod("\(scratch.path)/lib/libdep.so", 0o755) == 0)
            #expect(throws: Never.self) { try inspect(path) }
            try #require(chmod("\(scratch.path)/lib/libdep.so", 0o757) == 0)
            let error = try PluginScratch.refusal { try inspect(path) }
            #expect(error.message.contains("libdep.so") && error.message.contains("writable by others"))
        }
    }

    @Test("a needed library with a relative path is refused, one with an absolute path is checked")
    func neededWithSlash() throws {
        try PluginScratch.with { scratch in
            let library = try scratch.compile("int dep(void) { return 1; }", to: "libdep.so")
            try #require(chmod(library, 0o755) == 0)
            for (name, isRefused) in [("./libdep.so", true), (library, false)] {
                // A library without a soname is needed by the path that the linker got.
                let path = try scratch.compile(
                    "int localdata_plugin_v1(void) { return 1; }", to: "libRP.so",
                    ["-shared", "-fPIC", "-Wl,--no-as-needed", "-x", "none", name])
                if isRefused {
                    let error = try PluginScratch.refusal { try inspect(path) }
                    #expect(error.message.contains("needs the library './libdep.so'"), "\(error.message)")
                } else {
                    #expect(throws: Never.self) { try inspect(path) }
                    try #require(chmod(library, 0o777) == 0)
                    _ = try PluginScratch.refusal { try inspect(path) }
                }
            }
        }
    }
}
