import Glibc
import LocalDataAPI
import LocalDataHost
import Testing

@Suite("ELFImage")
struct ELFImageTests {
    private static let exported = [
        "zz_caller", "zz_object", "zz_protected", "zz_thread", "zz_weak", "zz_zeroed",
    ]

    @Test(
        "exported symbols are found by each hash table, with and without section headers",
        arguments: ["gnu", "sysv", "both"], [true, false])
    func symbols(style: String, hasSections: Bool) throws {
        try PluginScratch.with { scratch in
            let options = ["-shared", "-fPIC", "-Wl,--hash-style=\(style)"]
            var path = try scratch.compile(PluginScratch.source, to: "plugin.so", options)
            if !hasSections {
                var bytes = try PluginScratch.contents(path)
                bytes.put(UInt64(0), at: 40)
                bytes.put(UInt16(0), at: 60)
                path = try scratch.file("stripped.so", bytes)
            }
            let image = try PluginScratch.image(path)
            #expect(image.path == path)
            #expect(image.definedSymbols(prefix: "zz_") == Self.exported)
            #expect(image.definedSymbols(prefix: "localdata_plugin_v") == ["localdata_plugin_v1"])
            #expect(image.definedSymbols(prefix: "nothing").isEmpty)
            for name in Self.exported { #expect(image.definesSymbol(name)) }
            for name in ["zz_hidden", "zz_local", "zz_undefined", "zz_", "zz_object\0", "", "z", "localdata_plugin_v"] {
                #expect(!image.definesSymbol(name), "\(name)")
            }
            try image.requireEntry(major: 1)
        }
    }

    @Test("lists what nm lists, for a large library of the system")
    func agreesWithNm() throws {
        try PluginScratch.with { scratch in
            let path = try scratch.shell("ls /usr/lib/*/libstdc++.so.6 | head -n 1").split(separator: "\n").first
            let library = try FileTrust.check(String(try #require(path)))
            let image = try ELFImage(library)
            let nm = "nm --dynamic --defined-only --without-symbol-versions -- \"$0\""
            let listed = try scratch.shell(nm, [library.path])
            // Types i and u are indirect and unique; A is the name of a version.
            let names = listed.split(separator: "\n").compactMap { line -> String? in
                let fields = line.split(separator: " ")
                return fields.count == 3 && fields[1] != "A" ? String(fields[2]) : nil
            }
            let expected = Set(names).filter { $0.hasPrefix("_ZN") }
            try #require(expected.count > 1000)
            #expect(Set(image.definedSymbols(prefix: "_ZN")) == expected)
        }
    }

    @Test("a library without any exported symbol is read, and is not a plugin")
    func noSymbols() throws {
        try PluginScratch.with { scratch in
            let path = try scratch.compile("static int a;", to: "empty.so", ["-shared", "-fPIC", "-nostdlib"])
            let image = try PluginScratch.image(path)
            #expect(image.definedSymbols(prefix: "") == [])
            let error = try PluginScratch.refusal { try image.requireEntry(major: 1) }
            let finding = "is a shared library but not a LocalData plugin: it does not export localdata_plugin_v1"
            #expect(error.message == "plugin file \(path) \(finding)")
            #expect(error.hint == "remove it from the plugin folder, or export localdata_plugin_v1 from it")
        }
    }

    @Test(
        "a plugin for another ABI is refused with both majors, and advice on which side to update",
        arguments: [
            (majors: [2], host: 1, found: "2", advice: "update the host"),
            ([1], 3, "1", "install a build of the plugin"),
            ([1, 2], 3, "1 and 2", "install a build of the plugin"),
        ])
    func otherMajor(majors: [Int], host: Int, found: String, advice: String) throws {
        try PluginScratch.with { scratch in
            let entries = majors.map { "int localdata_plugin_v\($0)(void) { return 0; }" }
            let noise = "int localdata_plugin_v; int localdata_plugin_v01, localdata_plugin_vx;"
            let path = try scratch.compile((entries + [noise]).joined(separator: "\n"), to: "plugin.so")
            let error = try PluginScratch.refusal { try PluginScratch.image(path).requireEntry(major: host) }
            let finding = "speaks plugin ABI \(found), expected ABI \(host), the one that this host speaks"
            #expect(error.message == "plugin file \(path) \(finding)")
            #expect(error.hint.hasPrefix(advice))
        }
    }

    @Test("a name that the end of the string table truncates does not count", arguments: [0, 5, 18, 19, 20])
    func cutName(length: Int) throws {
        try PluginScratch.with { scratch in
            var bytes = try PluginScratch.contents(scratch.compile(PluginScratch.source, to: "whole.so"))
            let name = "localdata_plugin_v1"
            let table = try #require(bytes.dynamicEntry(DT_STRTAB))
            let start = bytes.offset(of: bytes.number(UInt64.self, at: table + 8))
            let end = Array((name + "\0").utf8)
            let position = try #require(
                (start..<bytes.count - end.count).first { bytes[$0..<$0 + end.count] == end[...] })
            bytes.put(UInt64(position - start + length), at: try #require(bytes.dynamicEntry(DT_STRSZ)) + 8)
            let image = try PluginScratch.image(scratch.file("cut.so", bytes))
            #expect(image.definesSymbol(name) == (length == end.count))
            #expect(image.definedSymbols(prefix: "local") == (length == end.count ? [name] : []))
        }
    }

    @Test("an entry that is data is refused: calling it would crash")
    func dataEntry() throws {
        try PluginScratch.with { scratch in
            let path = try scratch.compile("int localdata_plugin_v1 = 1;", to: "plugin.so")
            let error = try PluginScratch.refusal { try PluginScratch.image(path).requireEntry(major: 1) }
            #expect(error.message.hasSuffix("exports localdata_plugin_v1 as data, expected a function"))
        }
    }

    @Test("only using or hiding the entry does not make a plugin")
    func undefinedEntry() throws {
        try PluginScratch.with { scratch in
            let uses = "extern int localdata_plugin_v1(void); int other(void) { return localdata_plugin_v1(); }"
            let hides = "__attribute__((visibility(\"hidden\"))) int localdata_plugin_v1(void) { return 1; }"
            for source in [uses, hides] {
                let path = try scratch.compile(source, to: "plugin.so")
                let error = try PluginScratch.refusal { try PluginScratch.image(path).requireEntry(major: 1) }
                #expect(error.message.contains("is a shared library but not a LocalData plugin"))
            }
        }
    }

    @Test("a plugin file is checked for trust, for content and for its entry, and its constructors do not run")
    func pluginFile() throws {
        try PluginScratch.with { scratch in
            let aborts = "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { abort(); }\n"
            let path = try scratch.compile(aborts + PluginScratch.source, to: "plugin.so")
            let link = try scratch.link("link.so", to: "plugin.so")
            let plugin = try PluginFile(checking: FileTrust.check(link), abiMajor: 1)
            #expect(plugin.location.path == path)
            #expect(plugin.image.definesSymbol("zz_object"))
            let major = try PluginScratch.refusal { try PluginFile(checking: FileTrust.check(link), abiMajor: 2) }
            #expect(major.message.contains("speaks plugin ABI 1, expected ABI 2"))
            try #require(chmod(path, 0o666) == 0)
            let trust = try PluginScratch.refusal { try PluginFile(checking: FileTrust.check(link), abiMajor: 1) }
            #expect(trust.message.contains("is writable by"))
        }
    }

    @Test("a file that is replaced or rewritten after the check is not read")
    func exchanged() throws {
        try PluginScratch.with { scratch in
            let path = try scratch.compile(PluginScratch.source, to: "plugin.so")
            let location = try FileTrust.check(path)
            let bytes = try PluginScratch.contents(path)
            try #require(unlink(path) == 0)
            let gone = try PluginScratch.refusal { try ELFImage(location) }
            #expect(gone.message.hasSuffix("cannot be opened: No such file or directory"))
            try scratch.file("plugin.so", bytes)
            let other = try PluginScratch.refusal { try ELFImage(location) }
            #expect(other.message.hasSuffix("changed while it was checked"))
            try #require(unlink(path) == 0)
            try #require(mkfifo(path, 0o600) == 0)
            let fifo = try PluginScratch.refusal { try ELFImage(location) }
            #expect(fifo.message.hasSuffix("changed while it was checked"))
            try #require(unlink(path) == 0)
            try scratch.link("plugin.so", to: "plugin.so.c")
            let link = try PluginScratch.refusal { try ELFImage(location) }
            #expect(link.message.contains("cannot be opened"))
        }
    }

    @Test(
        "a file that the user may not read is refused, with a command only for the user's own",
        .enabled(if: geteuid() != 0, "root may read every file"))
    func closed() throws {
        try PluginScratch.with { scratch in
            let path = try scratch.file("plugin.so")
            try #require(chmod(path, 0o200) == 0)
            let own = try PluginScratch.refusal { try ELFImage(FileTrust.check(path)) }
            #expect(own.hint == "run: chmod u+r,go+r '\(path)'")
            let roots = try PluginScratch.refusal { try ELFImage(FileTrust.check("/etc/shadow")) }
            #expect(roots.hint == "ask uid 0, its owner, to let you read it")
        }
    }

    @Test("a file that becomes shorter while it is read is an error, not a signal")
    func shrinks() throws {
        try PluginScratch.with { scratch in
            let path = try scratch.file("plugin.so", [UInt8](repeating: 1, count: 100))
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            let reader = ELFImage.Reader(descriptor: descriptor, size: 100, path: path)
            #expect(try reader.read(at: 40, count: 60, of: "x").count == 60)
            try #require(truncate(path, 50) == 0)
            let error = try PluginScratch.refusal { try reader.read(at: 40, count: 60, of: "the table") }
            #expect(error.message.hasSuffix("became shorter while it was read: the table ends at byte 50"))
        }
    }

    @Test("no range outside the file or above the limit is read")
    func ranges() throws {
        try PluginScratch.with { scratch in
            let path = try scratch.file("plugin.so", [UInt8](repeating: 1, count: 100))
            let limit = ELFImage.Reader.largestRange
            try #require(truncate(path, off_t(limit) + 100) == 0)
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            let reader = ELFImage.Reader(descriptor: descriptor, size: limit + 100, path: path)
            #expect(try reader.read(at: limit + 100, count: 0, of: "x").count == 0)
            let ranges: [(UInt64, UInt64)] = [(limit + 99, 2), (.max, 2), (2, .max), (.max, .max), (0, limit + 1)]
            for (offset, count) in ranges {
                _ = try PluginScratch.refusal { try reader.read(at: offset, count: count, of: "x") }
            }
        }
    }
}
