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
        arguments: PluginScratch.others([0o777, 0o1777], toGroup: 0o775))
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

    @Test("a run path through /proc is another folder for each process, and is refused, also behind a link")
    func refusesProcesses() throws {
        try PluginScratch.with { scratch in
            _ = try scratch.folder("lib")
            try scratch.shell("ln -s /proc/self/cwd \"$0/link\" && ln -s link \"$0/second\"", [scratch.path])
            for folder in [
                "/proc/self/cwd", "/usr/../proc/self/cwd/lib", "/dev/fd/0", "\(scratch.path)/link",
                "$ORIGIN/second/lib",
            ] {
                let path = try plugin(scratch, folder, from: "lib")
                let error = try PluginScratch.refusal { try inspect(path) }
                #expect(error.message.contains("looks for libraries in"), "\(error.message)")
                #expect(error.message.contains("another place for each process"), "\(error.message)")
            }
        }
    }

    @Test("the run paths of needed libraries, and of those that they need, are checked as the plugin's own")
    func needed() throws {
        try PluginScratch.with { scratch in
            for name in ["lib", "far", "open"] { _ = try scratch.folder(name) }
            func library(_ name: String, _ code: String, _ options: [String]) throws {
                let path = try scratch.compile(
                    code, to: name, ["-shared", "-fPIC", "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined"] + options)
                try #require(chmod(path, 0o755) == 0)
            }
            let open = "\(scratch.path)/open"
            try library("open/libdeepest.so", "int deepest(void) { return 1; }", [])
            try library(
                "far/libdeep.so", "int deep(void) { return 1; }", ["-Lopen", "-ldeepest", "-Wl,-rpath,\(open)"])
            try library(
                "lib/libdep.so", "int dep(void) { return 1; }", ["-Lfar", "-ldeep", "-Wl,-rpath,$ORIGIN/../far"])
            try library(
                "libRP.so", "int localdata_plugin_v1(void) { return 1; }", ["-Llib", "-ldep", "-Wl,-rpath,$ORIGIN/lib"])
            let path = "\(scratch.path)/libRP.so"
            #expect(throws: Never.self) { try inspect(path) }
            try #require(chmod(open, 0o777) == 0)
            var error = try PluginScratch.refusal { try inspect(path) }
            #expect(error.message.contains("needs the library 'libdep.so'"), "\(error.message)")
            #expect(error.message.contains("looks for libraries in '\(open)'"), "\(error.message)")
            try #require(chmod(open, 0o755) == 0)
            try #require(chmod("\(open)/libdeepest.so", 0o757) == 0)
            error = try PluginScratch.refusal { try inspect(path) }
            #expect(error.message.contains("libdeepest.so") && error.message.contains("writable by others"))
        }
    }

    @Test("a folder of the run path that anyone could create is refused")
    func refusesMissingFolder() throws {
        try PluginScratch.with { scratch in
            _ = try scratch.folder("lib")
            let path = try plugin(scratch, "/tmp/localdata-nobody-made-this/lib", from: "lib")
            let error = try PluginScratch.refusal { try inspect(path) }
            #expect(error.message.contains("'/tmp/localdata-nobody-made-this/lib'"), "\(error.message)")
            // Not a command that would close /tmp.
            #expect(
                error.hint
                    == "link the plugin without this run path, or make it a folder that only you can write to")
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
