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
