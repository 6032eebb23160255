import Glibc
internal import HostGround
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

extension ELFImage {
    /// Reads ranges of an open file into memory; every range is checked.
    package struct Reader {
        /// The largest range for one read: 64 MiB, about ten times the symbol table of a large Swift library.
        package static let largestRange: UInt64 = 64 << 20

        /// The file's size when it was opened.
        package let size: UInt64
        /// The file's path, for messages.
        package let path: String
        private let descriptor: CInt

        /// Reads from a descriptor that the caller owns.
        package init(descriptor: CInt, size: UInt64, path: String) {
            self.descriptor = descriptor
            self.size = size
            self.path = path
        }

        /// Reads a whole range.
        ///
        /// - Parameters:
        ///   - offset: The start of the range.
        ///   - count: Its length in bytes.
        ///   - what: Its content, for messages.
        /// - Throws: `StorageError.pluginRefused` if the range is not in the file, is above the limit, or the file has
        ///   become shorter.
        package func read(at offset: UInt64, count: UInt64, of what: String) throws -> Bytes {
            let (end, overflow) = offset.addingReportingOverflow(count)
            guard !overflow, end <= size else { throw truncated(overflow ? nil : end, what) }
            guard count <= Self.largestRange else {
                throw damaged("has \(what) of \(count) bytes, expected at most \(Self.largestRange)")
            }
            let bytes = try [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, filled in
                while filled < Int(count) {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                    let result = pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(filled))
                    if result < 0 && errno == EINTR { continue }
                    guard result >= 0 else {
                        throw StorageError.refusing(path, "cannot be read: \(StorageError.systemText(errno))")
                    }
                    guard result > 0 else {
                        throw StorageError.refusing(
                            path, "became shorter while it was read: \(what) ends at byte \(offset + UInt64(filled))",
                            hint: "wait until it is written, then try again")
                    }
                    filled += result
                }
            }
            return Bytes(bytes)
        }

        /// The refusal of a file that ends too early; `nil` for an end that no file can reach.
        func truncated(_ end: UInt64?, _ what: String) -> StorageError {
            let expected = end.map { "at least \($0) bytes" } ?? "a possible size"
            return damaged("is truncated or damaged: \(what) needs \(expected), found \(size)")
        }

        /// A refusal with advice for damaged files.
        func damaged(_ finding: String) -> StorageError {
            .refusing(path, finding, hint: "install the plugin again")
        }
    }
}

extension ELFImage {
    /// The program headers: the ranges of the file that ld.so maps, and their addresses.
    struct Segments {
        /// The address and the length of the dynamic section, once it is known to be in the file.
        let dynamic: (address: UInt64, count: UInt64)
        private let loads: [Elf64_Phdr]

        init(_ reader: Reader, _ header: Header) throws {
            let length = UInt64(header.segmentCount * MemoryLayout<Elf64_Phdr>.size)
            let table = try reader.read(at: header.segmentOffset, count: length, of: "the program header table")
            let all = table.records(Elf64_Phdr.self)
            try Self.judgeFileRanges(all, reader)
            loads = all.filter { $0.p_type == UInt32(PT_LOAD) }
            try Self.judgeLoads(loads, reader)
            if all.contains(where: { $0.p_type == UInt32(PT_INTERP) }) {
                throw StorageError.refusing(
                    reader.path, "is an executable program (it names an interpreter), expected a shared library",
                    hint: "link the plugin with -shared")
            }
            // ld.so uses the last one; a second one is a sign of damage.
            let dynamics = all.filter { $0.p_type == UInt32(PT_DYNAMIC) }
            guard let section = dynamics.last, section.p_filesz > 0 else {
                throw StorageError.refusing(
                    reader.path, "has no dynamic section, expected a shared library",
                    hint: "a file of separate debug symbols has none: name the library itself")
            }
            guard dynamics.count == 1 else {
                throw reader.damaged("has \(dynamics.count) dynamic sections, expected one")
            }
            dynamic = (section.p_vaddr, section.p_filesz)
            try judgeAddresses(all, reader)
        }

        /// The file offset of an address, if it and the `count - 1` bytes after it are mapped from the file.
        func offset(of address: UInt64, count: UInt64) -> UInt64? {
            guard let load = load(holding: address), count <= load.p_filesz - (address - load.p_vaddr) else {
                return nil
            }
            return load.p_offset + (address - load.p_vaddr)
        }

        /// The number of bytes mapped from the file, starting at an address; 0 if the address is not mapped.
        func available(at address: UInt64) -> UInt64 {
            load(holding: address).map { $0.p_filesz - (address - $0.p_vaddr) } ?? 0
        }

        private func load(holding address: UInt64) -> Elf64_Phdr? {
            loads.first { address >= $0.p_vaddr && address - $0.p_vaddr < $0.p_filesz }
        }

        private static func judgeFileRanges(_ all: [Elf64_Phdr], _ reader: Reader) throws {
            var needed: UInt64 = 0
            for (index, segment) in all.enumerated() where segment.p_filesz > 0 {
                let (end, overflow) = segment.p_offset.addingReportingOverflow(segment.p_filesz)
                guard !overflow else { throw reader.truncated(nil, "segment \(index)") }
                needed = max(needed, end)
            }
            guard needed <= reader.size else { throw reader.truncated(needed, "its last segment") }
        }

        /// ld.so reserves the space from the first to the last segment and maps them one after the other: it would map
        /// segments out of order over foreign memory.
        private static func judgeLoads(_ loads: [Elf64_Phdr], _ reader: Reader) throws {
            guard !loads.isEmpty else { throw reader.damaged("has no segment to load, expected some") }
            var lowest: UInt64 = 0
            for segment in loads {
                guard segment.p_filesz <= segment.p_memsz else {
                    throw reader.damaged(
                        "has a segment with \(segment.p_filesz) bytes in the file, expected at most the"
                            + " \(segment.p_memsz) that it has in memory")
                }
                let (end, overflow) = segment.p_vaddr.addingReportingOverflow(segment.p_memsz)
                guard !overflow, segment.p_vaddr >= lowest else {
                    throw reader.damaged("has segments that overlap or wrap around, expected ascending addresses")
                }
                lowest = end
            }
        }

        /// Everything that ld.so or the unwinder reads through an address must be mapped from the file.
        private func judgeAddresses(_ all: [Elf64_Phdr], _ reader: Reader) throws {
            let read = [PT_DYNAMIC, PT_PHDR, PT_TLS, PT_NOTE, PT_GNU_PROPERTY, PT_GNU_EH_FRAME].map { UInt32($0) }
            for (index, segment) in all.enumerated() where read.contains(segment.p_type) && segment.p_filesz > 0 {
                guard offset(of: segment.p_vaddr, count: segment.p_filesz) != nil else {
                    throw reader.damaged("has its segment \(index) outside what is loaded, expected it inside")
                }
            }
        }
    }
}
