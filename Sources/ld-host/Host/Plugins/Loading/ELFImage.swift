import DurableFiles
import Glibc
internal import HostGround
import LocalDataAPI

/// A shared library, read from its file without loading it.
///
/// `dlopen` maps a file and trusts it: a truncated one ends the process with SIGBUS, and the constructors of any
/// library run before the caller sees a single symbol. So the file is first read with `pread(2)` - never mapped, so
/// that a file that shrinks meanwhile is an error, not a signal - and every offset and size in it is checked.
///
/// Once this value exists, `dlopen` finds a whole 64-bit shared library for this machine, with a dynamic section and
/// symbols where it looks for them. Relocations and versions are not checked.
/// `FileTrust`, not this check, protects against malicious files. Layout: System V gABI, chapters 4 and 5; elf(5).
package struct ELFImage: Sendable {
    /// The file that was read.
    package let path: String
    let symbols: Symbols
    let libraries: Libraries

    /// Reads the file at a trusted path.
    ///
    /// - Throws: `StorageError.pluginRefused` if it cannot be opened, is not the file that was checked, or is unsafe to
    ///   pass to `dlopen`.
    package init(_ location: TrustedPath) throws {
        (symbols, libraries) = try Self.read(location) { reader, segments, dynamic in
            let symbols = try Symbols(reader, segments, dynamic)
            return (symbols, try Libraries(reader, dynamic) { symbols.names.string(at: $0) })
        }
        path = location.path
    }

    /// The libraries that a library needs; no more of it is checked.
    ///
    /// - Throws: As ``init(_:)``.
    static func libraries(of location: TrustedPath) throws -> Libraries {
        try read(location) { reader, segments, dynamic in
            try Libraries(reader, dynamic) { offset in
                guard let start = dynamic.value(DT_STRTAB), let size = dynamic.value(DT_STRSZ), UInt64(offset) < size
                else { return nil }
                let count = min(size - UInt64(offset), longestText)
                guard let place = segments.offset(of: start &+ UInt64(offset), count: count) else { return nil }
                return try reader.read(at: place, count: count, of: "the dynamic string table").string(at: 0)
            }
        }
    }

    /// The most bytes of a name or of a run path that is read on its own.
    private static let longestText: UInt64 = 16 << 10

    private static func read<Result>(
        _ location: TrustedPath, _ body: (Reader, Segments, Dynamic) throws -> Result
    ) throws -> Result {
        // NONBLOCK: if a FIFO replaced the file, opening it must fail the comparison below, not wait for a writer.
        let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK
        guard let file = OwnedDescriptor(open(location.path, flags)) else {
            let number = errno
            var status = stat()
            let isOwn = lstat(location.path, &status) == 0 && Ownership.isOwn(status, of: geteuid())
            let closed =
                isOwn
                ? "run: chmod u+r,go+r \(PathText.shellQuoted(location.path))"
                : "ask uid \(status.st_uid), its owner, to let you read it"
            throw StorageError.refusing(
                location.path, "cannot be opened: \(StorageError.systemText(number))",
                hint: number == EACCES ? closed : "")
        }
        var status = stat()
        guard fstat(file.raw, &status) == 0, FileVersion(status) == location.identity else {
            throw StorageError.refusing(
                location.path, "changed while it was checked", hint: "wait until it is written, then try again")
        }
        let reader = Reader(descriptor: file.raw, size: UInt64(clamping: status.st_size), path: location.path)
        let header = try Header(reader)
        let segments = try Segments(reader, header)
        return try body(reader, segments, try Dynamic(reader, segments))
    }

    /// Whether `dlsym` finds a function or an object with this name in the library.
    package func definesSymbol(_ name: String) -> Bool { symbols.kind(of: name) != nil }

    /// The names of all functions and objects that begin with the prefix, sorted; those that are not UTF-8 are left
    /// out.
    package func definedSymbols(prefix: String) -> [String] { symbols.names(prefix: prefix) }
}

extension ELFImage {
    /// A range of the file in memory; bytes outside of it are inaccessible.
    package struct Bytes: Sendable {
        private let storage: [UInt8]

        init(_ storage: [UInt8]) { self.storage = storage }

        /// The number of bytes.
        package var count: Int { storage.count }

        /// The bytes themselves.
        package var all: ArraySlice<UInt8> { storage[...] }

        /// The structure at a byte offset, or `nil` if it is not completely inside; alignment does not matter.
        ///
        /// The file's byte order and word size are the machine's: the header is checked before anything else is read.
        func record<Record: BitwiseCopyable>(_: Record.Type, at offset: Int) -> Record? {
            let length = MemoryLayout<Record>.size
            guard offset >= 0, length <= storage.count, offset <= storage.count - length else { return nil }
            return storage.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Record.self) }
        }

        /// All structures of a table without gaps; a partial one at the end is ignored.
        func records<Record: BitwiseCopyable>(_: Record.Type) -> [Record] {
            stride(from: 0, to: storage.count, by: MemoryLayout<Record>.stride).compactMap {
                record(Record.self, at: $0)
            }
        }

        /// Whether the text at an offset begins with these bytes.
        func hasText(_ text: [UInt8], at offset: Int) -> Bool {
            guard offset >= 0, text.count <= storage.count, offset <= storage.count - text.count else { return false }
            for index in text.indices where storage[offset + index] != text[index] { return false }
            return true
        }

        /// The bytes from an offset up to the next NUL, or `nil` if absent.
        func string(at offset: Int) -> ArraySlice<UInt8>? {
            guard storage.indices.contains(offset) else { return nil }
            return storage[offset...].firstIndex(of: 0).map { storage[offset..<$0] }
        }
    }
}

extension ELFImage {
    /// The dynamic section: the addresses that ld.so uses.
    struct Dynamic {
        /// `Elf64_Dyn`, whose union Swift does not import as a bitwise-copyable type.
        private struct Entry: BitwiseCopyable {
            let tag: Int64
            let value: UInt64
        }

        private var values: [Int64: UInt64] = [:]
        /// The offsets of the names of libraries that are loaded with this one: those that it needs, and those that
        /// `DT_FILTER` and `DT_AUXILIARY` name.
        private(set) var needed: [UInt64] = []

        private static let loading: Set<Int64> = [Int64(DT_NEEDED), 0x7FFF_FFFD, 0x7FFF_FFFF]

        init(_ reader: Reader, _ segments: Segments) throws {
            let (address, count) = segments.dynamic
            guard let offset = segments.offset(of: address, count: count) else {
                throw reader.damaged("has its dynamic section outside what is loaded, expected it inside")
            }
            let bytes = try reader.read(at: offset, count: count, of: "the dynamic section")
            var isComplete = false
            // As in ld.so, the last entry of a kind counts.
            for entry in bytes.records(Entry.self) {
                isComplete = entry.tag == Int64(DT_NULL)
                if isComplete { break }
                values[entry.tag] = entry.value
                if Self.loading.contains(entry.tag) { needed.append(entry.value) }
            }
            guard isComplete else { throw reader.damaged("has a dynamic section without an end") }
            try judgeFlags(reader)
        }

        /// The value or the address under a tag of elf.h.
        func value(_ tag: Int32) -> UInt64? { values[Int64(tag)] }

        private func judgeFlags(_ reader: Reader) throws {
            let flags = value(DT_FLAGS_1) ?? 0
            guard flags & UInt64(DF_1_PIE) == 0 else {
                throw StorageError.refusing(
                    reader.path, "is an executable program (PIE), expected a shared library",
                    hint: "link the plugin with -shared")
            }
            guard flags & UInt64(DF_1_NOOPEN) == 0 else {
                throw StorageError.refusing(
                    reader.path, "is marked as not to be opened by dlopen",
                    hint: "link the plugin without -z nodlopen")
            }
        }
    }
}

extension ELFImage {
    /// The prefix of a plugin's entry function; the ABI's major version follows in decimal.
    package static let entryPrefix = "localdata_plugin_v"

    /// Requires the entry function of an ABI's major version, so that no code of an incompatible library, or of one
    /// that is not a plugin, ever runs.
    ///
    /// - Throws: `StorageError.pluginRefused`; the message lists the major versions that the plugin has.
    package func requireEntry(major: Int) throws {
        let expected = "\(Self.entryPrefix)\(major)"
        if let kind = symbols.kind(of: expected) {
            guard kind.isCallable else {
                throw StorageError.refusing(
                    path, "exports \(expected) as data, expected a function", hint: "export the entry as a C function")
            }
            return
        }
        let majors = definedSymbols(prefix: Self.entryPrefix)
            .compactMap { Self.major(String($0.dropFirst(Self.entryPrefix.count))) }
            .sorted()
        guard let newest = majors.last else {
            throw StorageError.refusing(
                path, "is a shared library but not a LocalData plugin: it does not export \(expected)",
                hint: "remove it from the plugin folder, or export \(expected) from it")
        }
        let spoken = majors.map(String.init).joined(separator: " and ")
        throw StorageError.refusing(
            path, "speaks plugin ABI \(spoken), expected ABI \(major), the one that this host speaks",
            hint: newest > major
                ? "update the host, or install the plugin's build for ABI \(major)"
                : "install a build of the plugin for ABI \(major)")
    }

    /// The number, if the text is exactly what `\(major)` would print.
    private static func major(_ text: String) -> Int? {
        guard let number = Int(text), String(number) == text, number >= 0 else { return nil }
        return number
    }
}

extension ELFImage {
    /// Guesses the type of a file that is not ELF from its first bytes; see magic(5).
    enum Magic {
        private static let known: [(bytes: [UInt8], name: String)] = [
            ([0x1F, 0x8B], "compressed with gzip"),
            ([0x42, 0x5A, 0x68], "compressed with bzip2"),
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "compressed with xz"),
            ([0x28, 0xB5, 0x2F, 0xFD], "compressed with zstd"),
            ([0x50, 0x4B, 0x03, 0x04], "a zip archive"),
            (Array("!<arch>\n".utf8), "a static library or a Debian package (ar archive)"),
            (Array("!<thin>\n".utf8), "a static library (thin ar archive)"),
            ([0xCF, 0xFA, 0xED, 0xFE], "a Mach-O file, as on macOS"),
            ([0xCE, 0xFA, 0xED, 0xFE], "a 32-bit Mach-O file, as on macOS"),
            ([0xFE, 0xED, 0xFA, 0xCF], "a big-endian Mach-O file"),
            ([0xFE, 0xED, 0xFA, 0xCE], "a big-endian Mach-O file"),
            ([0xCA, 0xFE, 0xBA, 0xBE], "a universal Mach-O file, as on macOS, or Java bytecode"),
            ([0x4D, 0x5A], "a PE file, as on Windows"),
            ([0x42, 0x43, 0xC0, 0xDE], "LLVM bitcode"),
            ([0x00, 0x61, 0x73, 0x6D], "WebAssembly"),
        ]

        /// A phrase to follow "the file is".
        static func describe(_ bytes: ArraySlice<UInt8>) -> String {
            if let match = known.first(where: { bytes.starts(with: $0.bytes) }) { return match.name }
            if bytes.starts(with: "#!".utf8) {
                return "a script (\(PathText.shown(String(decoding: firstLine(bytes), as: UTF8.self))))"
            }
            if bytes.allSatisfy({ (0x20...0x7E).contains($0) || (0x09...0x0D).contains($0) }) {
                return "text (\"\(PathText.shown(String(decoding: firstLine(bytes), as: UTF8.self)))\")"
            }
            return "of an unknown kind (first bytes \(hex(bytes.prefix(8))))"
        }

        private static func firstLine(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            bytes.prefix { $0 != 0x0A && $0 != 0x0D }
        }

        private static func hex(_ bytes: ArraySlice<UInt8>) -> String {
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
        }
    }
}

extension ELFImage.Header {
    #if arch(x86_64)
        private static let hostMachine = EM_X86_64
    #elseif arch(arm64)
        private static let hostMachine = EM_AARCH64
    #else
        #error("add this machine's number in elf.h, and its name below")
    #endif

    private static let machines: [Int32: String] = [
        EM_386: "i386", EM_MIPS: "mips", EM_PPC64: "ppc64", EM_S390: "s390", EM_ARM: "arm", EM_X86_64: "x86_64",
        EM_AARCH64: "aarch64", EM_RISCV: "riscv",
    ]

    /// Refuses a different word size, byte order, machine or system, in the order in which each makes the next
    /// readable.
    static func judgePlatform(_ header: Elf64_Ehdr, _ bytes: [UInt8], _ path: String) throws {
        func require(_ holds: Bool, _ found: @autoclosure () -> String) throws {
            guard !holds else { return }
            let host = name(hostMachine)
            throw StorageError.refusing(
                path, "is \(found()), expected a 64-bit library for \(host)",
                hint: "install the build of the plugin for \(host) Linux")
        }
        func ident(_ index: Int32) -> UInt8 { bytes.indices.contains(Int(index)) ? bytes[Int(index)] : 0 }

        let isLittleEndian = Int32(ident(EI_DATA)) == ELFDATA2LSB
        // The machine is at the same offset in both word sizes.
        let machine = Int32(isLittleEndian ? header.e_machine : header.e_machine.byteSwapped)
        try require(
            Int32(ident(EI_CLASS)) != ELFCLASS32, "a 32-bit library for \(name(machine))")
        try require(
            Int32(ident(EI_CLASS)) == ELFCLASS64, "an ELF file of the unknown class \(ident(EI_CLASS))")
        try require(
            isLittleEndian || Int32(ident(EI_DATA)) == ELFDATA2MSB,
            "an ELF file of the unknown byte order \(ident(EI_DATA))")
        try require(isLittleEndian, "a big-endian library for \(name(machine))")
        try require(machine == hostMachine, "a library for \(name(machine))")
        try require(
            Int32(ident(EI_VERSION)) == EV_CURRENT && header.e_version == UInt32(EV_CURRENT),
            "an ELF file of version \(header.e_version)")
        let system = Int32(ident(EI_OSABI))
        try require(
            system == ELFOSABI_SYSV || system == ELFOSABI_LINUX, "a library for another system (OS ABI \(system))")
    }

    private static func name(_ machine: Int32) -> String { machines[machine] ?? "machine \(machine)" }
}
