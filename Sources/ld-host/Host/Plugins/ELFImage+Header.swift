import Glibc
import LocalDataAPI

extension ELFImage {
    /// The first 64 bytes: the type of the file, and the locations of its tables.
    struct Header {
        /// The offset of the program headers.
        let segmentOffset: UInt64
        /// The number of program headers.
        let segmentCount: Int

        /// Reads the header, and refuses anything but a whole shared library for this machine.
        init(_ reader: Reader) throws {
            guard reader.size > 0 else { throw reader.damaged("is empty, expected a shared library") }
            let length = UInt64(MemoryLayout<Elf64_Ehdr>.size)
            let bytes = try reader.read(at: 0, count: min(reader.size, length), of: "the ELF header")
            guard bytes.hasText([0x7F, 0x45, 0x4C, 0x46], at: 0) else {
                throw StorageError.refusing(
                    reader.path, "is \(Magic.describe(bytes.all)), expected a shared library (ELF)",
                    hint: "name the plugin's .so file")
            }
            guard let header = bytes.record(Elf64_Ehdr.self, at: 0) else {
                throw reader.truncated(length, "the ELF header")
            }
            try Self.judgePlatform(header, Array(bytes.all.prefix(Int(EI_NIDENT))), reader.path)
            try Self.judgeType(header, reader.path)
            guard Int(header.e_phentsize) == MemoryLayout<Elf64_Phdr>.size else {
                throw reader.damaged("has program headers of \(header.e_phentsize) bytes, expected 56")
            }
            // ld.so does not support extended numbering and would use the marker as a number.
            guard Int32(header.e_phnum) != PN_XNUM else {
                throw reader.damaged("has \(header.e_phnum) program headers or more, expected fewer")
            }
            guard header.e_phnum > 0 else { throw reader.damaged("has no program headers, expected some") }
            segmentOffset = header.e_phoff
            segmentCount = Int(header.e_phnum)
            try Self.judgeSections(header, reader)
        }

        /// Linkers write the section table last, so a truncated file lacks it; ld.so itself never reads it.
        private static func judgeSections(_ header: Elf64_Ehdr, _ reader: Reader) throws {
            guard header.e_shoff != 0 else { return }
            let length = UInt64(MemoryLayout<Elf64_Shdr>.size)
            guard UInt64(header.e_shentsize) == length else {
                throw reader.damaged("has section headers of \(header.e_shentsize) bytes, expected \(length)")
            }
            var count = UInt64(header.e_shnum)
            if count == 0 {
                // Extended numbering: the first entry contains the number.
                let first = try reader.read(at: header.e_shoff, count: length, of: "the section table")
                count = first.record(Elf64_Shdr.self, at: 0)?.sh_size ?? 0
            }
            let (bytes, overflow) = count.multipliedReportingOverflow(by: length)
            let (end, overflowToo) = header.e_shoff.addingReportingOverflow(bytes)
            guard !overflow, !overflowToo else { throw reader.truncated(nil, "the section table") }
            guard end <= reader.size else { throw reader.truncated(end, "the section table") }
        }

        private static func judgeType(_ header: Elf64_Ehdr, _ path: String) throws {
            let kind =
                switch Int32(header.e_type) {
                case ET_DYN: ""
                case ET_EXEC: "an executable program"
                case ET_REL: "an object file that is not linked (.o)"
                case ET_CORE: "a core dump"
                default: "an ELF file of the unknown type \(header.e_type)"
                }
            guard kind.isEmpty else {
                throw StorageError.refusing(
                    path, "is \(kind), expected a shared library", hint: "link the plugin with -shared")
            }
        }
    }
}
