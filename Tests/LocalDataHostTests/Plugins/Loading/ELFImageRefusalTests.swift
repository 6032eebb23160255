import Glibc
import LocalDataAPI
import LocalDataHost
import Testing

@Suite("ELFImage refusals")
struct ELFImageRefusalTests {
    private static let host = PluginHostMachine.name
    private static let expected = "expected a 64-bit library for \(host)"

    @Test(
        "a file that is not ELF is refused, and the error names its format",
        arguments: [
            (bytes: [UInt8](), looks: "empty"), (Array("#!/bin/sh\nexit 0\n".utf8), "a script (#!/bin/sh)"),
            (Array("INPUT(libreal.so)\n".utf8), "text (\"INPUT(libreal.so)\")"),
            ([0x1F, 0x8B, 8, 0], "compressed with gzip"),
            (Array("!<arch>\ndebian-binary".utf8), "a static library or a Debian package (ar archive)"),
            ([0xCF, 0xFA, 0xED, 0xFE, 7, 0, 0, 1], "a Mach-O file, as on macOS"),
            ([0x4D, 0x5A, 0x90, 0], "a PE file, as on Windows"),
            ([0x7F, 0x45], "of an unknown kind (first bytes 7f 45)"),
            ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "of an unknown kind (first bytes 00 01 02 03 04 05 06 07)"),
        ])
    func notELF(bytes: [UInt8], looks: String) throws {
        try PluginScratch.with { scratch in
            let path = try scratch.file("plugin.so", bytes)
            let error = try PluginScratch.refusal { try PluginScratch.image(path) }
            #expect(error.message.hasPrefix("plugin file \(path) is \(looks), expected a shared library"))
            #expect(!error.hint.isEmpty)
        }
    }

    @Test("a script's first line cannot put escape sequences into the message")
    func hostileScript() throws {
        try PluginScratch.with { scratch in
            let path = try scratch.file("plugin.so", Array("#!/bin/\u{1B}[2Jsh\n".utf8))
            let error = try PluginScratch.refusal { try PluginScratch.image(path) }
            #expect(error.message.contains(#"a script (#!/bin/\u{1B}[2Jsh)"#))
        }
    }

    @Test("another platform is refused with both sides named")
    func platform() throws {
        func judged(_ change: (inout [UInt8]) -> Void) throws -> String { try PluginScratch.refusal(changing: change) }
        #expect(
            try judged { bytes in
                bytes[4] = 1
                bytes.put(UInt16(3), at: 18)
            } == "is a 32-bit library for i386, \(Self.expected)")
        #expect(try judged { $0[4] = 9 } == "is an ELF file of the unknown class 9, \(Self.expected)")
        #expect(
            try judged { bytes in
                bytes[5] = 2
                bytes.put(UInt16(21).byteSwapped, at: 18)
            } == "is a big-endian library for ppc64, \(Self.expected)")
        #expect(try judged { $0[5] = 0 } == "is an ELF file of the unknown byte order 0, \(Self.expected)")
        #expect(
            try judged { $0.put(UInt16(PluginHostMachine.otherNumber), at: 18) }
                == "is a library for \(PluginHostMachine.otherName), \(Self.expected)")
        #expect(try judged { $0.put(UInt16(4711), at: 18) } == "is a library for machine 4711, \(Self.expected)")
        #expect(try judged { $0[7] = 9 } == "is a library for another system (OS ABI 9), \(Self.expected)")
        #expect(try judged { $0.put(UInt32(2), at: 20) } == "is an ELF file of version 2, \(Self.expected)")
    }

    @Test(
        "programs and object files are refused, and the error names their kind",
        arguments: [
            (options: ["-no-pie"], found: "is an executable program"),
            (["-pie", "-fPIE"], "is an executable program (it names an interpreter)"),
            (["-static-pie", "-fPIE"], "is an executable program (PIE)"),
            (["-c"], "is an object file that is not linked (.o)"),
        ])
    func programs(options: [String], found: String) throws {
        try PluginScratch.with { scratch in
            let path = try scratch.compile("int main(void) { return 0; }", to: "program", options)
            let error = try PluginScratch.refusal { try PluginScratch.image(path) }
            #expect(error.message == "plugin file \(path) \(found), expected a shared library")
            #expect(error.hint == "link the plugin with -shared")
        }
    }

    @Test("a library that was linked with -z nodlopen is refused before ld.so refuses it")
    func noOpen() throws {
        try PluginScratch.with { scratch in
            let path = try scratch.compile("int a;", to: "plugin.so", ["-shared", "-fPIC", "-Wl,-z,nodlopen"])
            let error = try PluginScratch.refusal { try PluginScratch.image(path) }
            #expect(error.message.hasSuffix("is marked as not to be opened by dlopen"))
        }
    }

    @Test("a file of separate debug symbols is refused: it has no code to run")
    func debugFile() throws {
        try PluginScratch.with { scratch in
            let path = try scratch.compile(PluginScratch.source, to: "plugin.so", ["-shared", "-fPIC", "-g"])
            try scratch.shell("objcopy --only-keep-debug \"$0\" \"$0.debug\" && chmod 644 \"$0.debug\"", [path])
            let error = try PluginScratch.refusal { try PluginScratch.image(path + ".debug") }
            #expect(error.message.hasSuffix("has no dynamic section, expected a shared library"))
            #expect(error.hint.contains("separate debug symbols"))
        }
    }

    @Test("each shorter form of a file is refused, with the size that it should have")
    func truncated() throws {
        try PluginScratch.with { scratch in
            let whole = try PluginScratch.contents(scratch.compile(PluginScratch.source, to: "whole.so"))
            let path = try scratch.file("plugin.so", whole)
            let half = whole.count / 2
            try #require(truncate(path, off_t(half)) == 0)
            let error = try PluginScratch.refusal { try PluginScratch.image(path) }
            #expect(
                error.message
                    == "plugin file \(path) is truncated or damaged: the section table needs at least \(whole.count)"
                    + " bytes, found \(half)")
            for size in (0..<whole.count).reversed() {
                try #require(truncate(path, off_t(size)) == 0)
                _ = try PluginScratch.refusal { try PluginScratch.image(path) }
            }
        }
    }

    @Test("without section headers, a file that ends before its last segment does is refused")
    func truncatedSegments() throws {
        let message = try PluginScratch.refusal { bytes in
            bytes.put(UInt64(0), at: 40)
            let last = bytes.segments(PT_LOAD)[bytes.segments(PT_LOAD).count - 1]
            let end = bytes.number(UInt64.self, at: last + 8) + bytes.number(UInt64.self, at: last + 32)
            bytes.removeLast(bytes.count - Int(end) + 1)
        }
        #expect(message.hasPrefix("is truncated or damaged: its last segment needs at least "))
    }

    /// A field of the file, its new value, and a part of the message.
    struct Damage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let expected: String
        var options: [String] = []
        let change: @Sendable (inout [UInt8]) -> Void
    }

    static let damages: [Damage] = [
        Damage(testDescription: "e_phnum is the escape", expected: "65535 program headers or more") {
            $0.put(UInt16(0xFFFF), at: 56)
        },
        Damage(testDescription: "e_phnum is 0", expected: "no program headers") { $0.put(UInt16(0), at: 56) },
        Damage(testDescription: "e_phnum is huge", expected: "the program header table needs") {
            $0.put(UInt16(0xFFFE), at: 56)
        },
        Damage(testDescription: "e_phoff wraps", expected: "the program header table needs a possible size") {
            $0.put(UInt64.max - 8, at: 32)
        },
        Damage(testDescription: "e_phentsize", expected: "program headers of 32 bytes") { $0.put(UInt16(32), at: 54) },
        Damage(testDescription: "e_shentsize", expected: "section headers of 0 bytes") { $0.put(UInt16(0), at: 58) },
        Damage(testDescription: "e_shoff wraps", expected: "the section table needs a possible size") {
            $0.put(UInt64.max - 64, at: 40)
        },
        Damage(testDescription: "extended section count", expected: "section table needs a possible size") { bytes in
            let first = Int(bytes.number(UInt64.self, at: 40))
            bytes.put(UInt16(0), at: 60)
            bytes.put(UInt64.max, at: first + 32)
        },
        Damage(testDescription: "p_offset wraps", expected: "needs a possible size") {
            $0.put(UInt64.max - 1, at: $0.segments(PT_LOAD)[0] + 8)
        },
        Damage(testDescription: "p_filesz above p_memsz", expected: "expected at most the 1 that it has in memory") {
            $0.put(UInt64(1), at: $0.segments(PT_LOAD)[0] + 40)
        },
        Damage(testDescription: "p_memsz wraps", expected: "segments that overlap or wrap around") {
            $0.put(UInt64.max - 4096, at: $0.segments(PT_LOAD)[1] + 40)
        },
        Damage(testDescription: "segments overlap", expected: "segments that overlap or wrap around") {
            $0.put(UInt64(8), at: $0.segments(PT_LOAD)[1] + 16)
        },
        Damage(testDescription: "no segment to load", expected: "no segment to load") { bytes in
            for segment in bytes.segments(PT_LOAD) { bytes.put(UInt32(0), at: segment) }
        },
        Damage(testDescription: "no dynamic section", expected: "has no dynamic section") {
            $0.put(UInt32(0), at: $0.segments(PT_DYNAMIC)[0])
        },
        Damage(testDescription: "two dynamic sections", expected: "has 2 dynamic sections") {
            $0.put(UInt32(PT_DYNAMIC), at: $0.segments(PT_NOTE)[0])
        },
        Damage(testDescription: "dynamic section elsewhere", expected: "outside what is loaded") {
            $0.put(UInt64.max - 7, at: $0.segments(PT_DYNAMIC)[0] + 16)
        },
        Damage(testDescription: "dynamic section without end", expected: "a dynamic section without an end") { bytes in
            bytes.put(UInt64(32), at: bytes.segments(PT_DYNAMIC)[0] + 32)
        },
        Damage(testDescription: "notes elsewhere", expected: "outside what is loaded") {
            $0.put(UInt64(1) << 40, at: $0.segments(PT_NOTE)[0] + 16)
        },
        entry("no symbol table", DT_SYMTAB, tag: 0x6000_0001, "no dynamic symbol table"),
        entry("no string table", DT_STRTAB, tag: 0x6000_0001, "no dynamic symbol table"),
        entry("symbol table elsewhere", DT_SYMTAB, value: .max, "the dynamic symbol table outside what is loaded"),
        entry("string table elsewhere", DT_STRTAB, value: 1 << 40, "the dynamic string table outside what is loaded"),
        entry("string table too long", DT_STRSZ, value: .max, "the dynamic string table outside what is loaded"),
        entry("size of a symbol", DT_SYMENT, value: 16, "symbols of 16 bytes"),
        entry("no hash table", DT_GNU_HASH, tag: 0x6000_0001, "no symbol hash table"),
        entry("hash table elsewhere", DT_GNU_HASH, value: .max, "a symbol hash table that leads outside"),
        hash("hash buckets beyond", DT_GNU_HASH, word: 0, 0x7FFF_FFFF, "a symbol hash table that leads outside"),
        hash("hash filter of no power of two", DT_GNU_HASH, word: 2, 3, "3 filter words"),
        hash("hash filter of none", DT_GNU_HASH, word: 2, 0, "0 filter words"),
        hash("hash filter beyond", DT_GNU_HASH, word: 2, 0x8000_0000, "a symbol hash table that leads outside"),
        hash("hash chain beyond", DT_GNU_HASH, word: 6, 0xFFFF_FFFF, "a symbol hash table that leads outside"),
        hash("System V count", DT_HASH, word: 1, 0xFFFF_FFFF, "4294967295 symbols"),
        hash("System V count, below the limit", DT_HASH, word: 1, 1_000_000, "outside what is loaded"),
    ]

    private static func entry(
        _ name: String, _ tag: Int32, tag newTag: Int64? = nil, value: UInt64? = nil, _ expected: String
    ) -> Damage {
        Damage(testDescription: name, expected: expected, options: ["-Wl,--hash-style=gnu"]) { bytes in
            guard let entry = bytes.dynamicEntry(tag) else { return }
            if let newTag { bytes.put(newTag, at: entry) }
            if let value { bytes.put(value, at: entry + 8) }
        }
    }

    private static func hash(_ name: String, _ tag: Int32, word: Int, _ value: UInt32, _ expected: String) -> Damage {
        let style = tag == DT_HASH ? "sysv" : "gnu"
        return Damage(testDescription: name, expected: expected, options: ["-Wl,--hash-style=\(style)"]) { bytes in
            guard let entry = bytes.dynamicEntry(tag) else { return }
            bytes.put(value, at: bytes.offset(of: bytes.number(UInt64.self, at: entry + 8)) + word * 4)
        }
    }

    @Test("a hostile size or offset is refused, and nothing outside the file is read", arguments: damages)
    func hostile(damage: Damage) throws {
        let message = try PluginScratch.refusal(options: damage.options, changing: damage.change)
        #expect(message.contains(damage.expected))
    }
}

/// The machine that the tests run on, in the words of the messages.
enum PluginHostMachine {
    #if arch(x86_64)
        static let name = "x86_64"
        static let otherName = "aarch64"
        static let otherNumber = EM_AARCH64
    #else
        static let name = "aarch64"
        static let otherName = "x86_64"
        static let otherNumber = EM_X86_64
    #endif
}
