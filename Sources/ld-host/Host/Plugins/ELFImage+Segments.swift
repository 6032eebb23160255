import Glibc
import LocalDataAPI

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
