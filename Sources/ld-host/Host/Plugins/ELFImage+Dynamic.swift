import Glibc
import LocalDataAPI

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
