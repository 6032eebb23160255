import Glibc
import LocalDataAPI

extension ELFImage {
    /// The dynamic symbol table, located as ld.so does it: through the dynamic section.
    ///
    /// Section headers name the same table, but `strip` and other tools may remove or misstate them, and they do not
    /// affect what `dlsym` finds.
    struct Symbols {
        /// The kind of a symbol.
        enum Kind {
            case function, object, untyped

            /// Whether the address can be called; symbols from assembly often have no type.
            var isCallable: Bool { self != .object }
        }

        private let table: Bytes
        /// The names of symbols, libraries and folders.
        let names: Bytes

        init(_ reader: Reader, _ segments: Segments, _ dynamic: Dynamic) throws {
            func region(_ address: UInt64, _ count: UInt64, _ what: String) throws -> Bytes {
                guard let offset = segments.offset(of: address, count: count) else {
                    throw reader.damaged("has \(what) outside what is loaded, expected it inside")
                }
                return try reader.read(at: offset, count: count, of: what)
            }
            guard let symbols = dynamic.value(DT_SYMTAB), let strings = dynamic.value(DT_STRTAB),
                let length = dynamic.value(DT_STRSZ)
            else { throw reader.damaged("has no dynamic symbol table, expected one") }
            let stride = UInt64(MemoryLayout<Elf64_Sym>.stride)
            guard dynamic.value(DT_SYMENT) ?? stride == stride else {
                throw reader.damaged("has symbols of \(dynamic.value(DT_SYMENT) ?? 0) bytes, expected \(stride)")
            }
            let count = try SymbolCount(reader, segments, dynamic).count
            table = count == 0 ? Bytes([]) : try region(symbols, count * stride, "the dynamic symbol table")
            names = length == 0 ? Bytes([]) : try region(strings, length, "the dynamic string table")
        }

        /// The kind of an exported symbol; `nil` if the library does not define it.
        func kind(of name: String) -> Kind? {
            guard !name.isEmpty, !name.utf8.contains(0) else { return nil }
            let text = Array(name.utf8) + [0]
            var result: Kind?
            forEach { symbol, kind in
                guard names.hasText(text, at: Int(symbol.st_name)) else { return true }
                result = kind
                return false
            }
            return result
        }

        /// The names with a prefix, sorted and unique.
        func names(prefix: String) -> [String] {
            let start = Array(prefix.utf8)
            var found: Set<String> = []
            forEach { symbol, _ in
                let offset = Int(symbol.st_name)
                guard names.hasText(start, at: offset), let bytes = names.string(at: offset), !bytes.isEmpty,
                    let name = String(validating: bytes, as: UTF8.self)
                else { return true }
                found.insert(name)
                return true
            }
            return found.sorted()
        }

        /// Visits the symbols that `dlsym` would find - defined, not local, not hidden, and of a suitable type - until
        /// the closure returns false.
        private func forEach(_ visit: (Elf64_Sym, Kind) -> Bool) {
            var offset = 0
            while let symbol = table.record(Elf64_Sym.self, at: offset) {
                offset += MemoryLayout<Elf64_Sym>.stride
                guard let kind = Self.exported(symbol) else { continue }
                guard visit(symbol, kind) else { return }
            }
        }

        private static func exported(_ symbol: Elf64_Sym) -> Kind? {
            guard Int32(symbol.st_shndx) != SHN_UNDEF else { return nil }
            guard [STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE].contains(Int32(symbol.st_info >> 4)) else { return nil }
            guard [STV_DEFAULT, STV_PROTECTED].contains(Int32(symbol.st_other & 3)) else { return nil }
            // glibc skips an address of zero unless the symbol is absolute or thread-local (do_lookup_x).
            let type = Int32(symbol.st_info & 15)
            guard symbol.st_value != 0 || Int32(symbol.st_shndx) == SHN_ABS || type == STT_TLS else { return nil }
            return switch type {
            case STT_FUNC, STT_GNU_IFUNC: .function
            case STT_NOTYPE: .untyped
            case STT_OBJECT, STT_COMMON, STT_TLS: .object
            default: nil
            }
        }
    }
}

extension ELFImage {
    /// The number of entries in the dynamic symbol table, which only the library's hash table determines.
    struct SymbolCount {
        /// The number, limited so that the table fits into one read.
        let count: UInt64

        /// Counts with the table that ld.so prefers: `DT_GNU_HASH`, otherwise `DT_HASH`.
        init(_ reader: Reader, _ segments: Segments, _ dynamic: Dynamic) throws {
            let counted: UInt64
            if let address = dynamic.value(DT_GNU_HASH) {
                counted = try Self.countGNU(reader, segments, address)
            } else if let address = dynamic.value(DT_HASH) {
                // System V gABI: nbucket, nchain, buckets, chains; one chain word per symbol.
                guard let chains = try Self.words(reader, segments, address, 2).last else {
                    throw Self.damaged(reader)
                }
                counted = UInt64(chains)
            } else {
                throw reader.damaged("has no symbol hash table, expected DT_GNU_HASH or DT_HASH")
            }
            let most = Reader.largestRange / UInt64(MemoryLayout<Elf64_Sym>.stride)
            guard counted <= most else { throw reader.damaged("has \(counted) symbols, expected at most \(most)") }
            count = counted
        }

        /// The GNU table does not contain the number of symbols: it is one more than the last index of the chain that
        /// starts last.
        private static func countGNU(_ reader: Reader, _ segments: Segments, _ address: UInt64) throws -> UInt64 {
            let header = try words(reader, segments, address, 4)
            guard header.count == 4 else { throw damaged(reader) }
            let (buckets, first, filters) = (UInt64(header[0]), UInt64(header[1]), UInt64(header[2]))
            guard buckets > 0 else { return first }
            // ld.so asserts this, and a failed assertion ends the process.
            guard filters > 0, filters & (filters - 1) == 0 else {
                throw reader.damaged("has a symbol hash table with \(filters) filter words, expected a power of two")
            }
            // Each factor is below 2^32, so nothing overflows until the address is added.
            let (start, overflow) = address.addingReportingOverflow(16 + filters * 8)
            guard !overflow else { throw damaged(reader) }
            let last = try words(reader, segments, start, buckets).max().map(UInt64.init) ?? 0
            guard last >= first else { return first }
            let (chain, overflowToo) = start.addingReportingOverflow(buckets * 4 + (last - first) * 4)
            guard !overflowToo else { throw damaged(reader) }
            return try last + 1 + endOfChain(reader, segments, chain)
        }

        /// The number of words before the first one with its lowest bit set.
        private static func endOfChain(_ reader: Reader, _ segments: Segments, _ address: UInt64) throws -> UInt64 {
            var passed: UInt64 = 0
            while passed * 4 < Reader.largestRange {
                let count = min(segments.available(at: address + passed * 4) / 4, 256)
                guard count > 0 else { break }
                let chain = try words(reader, segments, address + passed * 4, count)
                if let end = chain.firstIndex(where: { $0 & 1 == 1 }) { return passed + UInt64(end) }
                passed += count
            }
            throw damaged(reader)
        }

        private static func words(
            _ reader: Reader, _ segments: Segments, _ address: UInt64, _ count: UInt64
        ) throws -> [UInt32] {
            guard let offset = segments.offset(of: address, count: count * 4) else { throw damaged(reader) }
            return try reader.read(at: offset, count: count * 4, of: "the symbol hash table").records(UInt32.self)
        }

        private static func damaged(_ reader: Reader) -> StorageError {
            reader.damaged("has a symbol hash table that leads outside what is loaded, expected it inside")
        }
    }
}
