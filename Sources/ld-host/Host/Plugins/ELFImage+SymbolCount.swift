import Glibc
import LocalDataAPI

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
