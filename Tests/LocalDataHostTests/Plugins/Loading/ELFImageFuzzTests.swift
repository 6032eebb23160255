import Glibc
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("ELFImage on damaged files")
struct ELFImageFuzzTests {
    private static let hostileNumbers: [UInt64] = [
        0, 1, 2, 7, 0x7F, 0xFF, 0xFFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 32, 1 << 40, .max >> 1, 1 << 63,
        .max - 63, .max - 7, .max,
    ]

    /// A file that can be damaged in place and restored.
    private struct Specimen {
        let whole: [UInt8]
        let path: String
        let descriptor: CInt

        /// Checks the file with some bytes replaced; true if it is accepted.
        func accepts(_ damages: [(offset: Int, bytes: [UInt8])], cut: Int? = nil) throws -> Bool {
            for damage in damages { try put(damage.bytes, at: damage.offset) }
            if let cut { try #require(ftruncate(descriptor, off_t(cut)) == 0) }
            defer { _ = pwrite(descriptor, whole, whole.count, 0) }
            do {
                let image = try PluginScratch.image(path)
                _ = image.definesSymbol("localdata_plugin_v1")
                _ = image.definedSymbols(prefix: "")
                try image.requireEntry(major: 1)
                return true
            } catch let error as StorageError {
                #expect(error.code == .pluginRefused)
                return false
            }
        }

        private func put(_ bytes: [UInt8], at offset: Int) throws {
            let count = min(bytes.count, whole.count - offset)
            try #require(pwrite(descriptor, bytes, count, off_t(offset)) == count)
        }
    }

    /// Compiles a library with both hash tables, or one, and passes it to a body.
    private static func with(style: String, _ body: (Specimen) throws -> Void) throws {
        try PluginScratch.with { scratch in
            let options = ["-shared", "-fPIC", "-Wl,--hash-style=\(style)"]
            let path = try scratch.compile(PluginScratch.source, to: "plugin.so", options)
            let whole = try PluginScratch.contents(path)
            let descriptor = open(path, O_RDWR | O_CLOEXEC)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            let specimen = Specimen(whole: whole, path: path, descriptor: descriptor)
            try #require(try specimen.accepts([]))
            try body(specimen)
            #expect(try specimen.accepts([]))
        }
    }

    /// The byte ranges that the reader uses: headers, dynamic section, hash, symbols and names. They are before the
    /// code and at its end.
    private static func structures(_ bytes: [UInt8]) -> [Range<Int>] {
        var ranges = [0..<64, 64..<(64 + 56 * Int(bytes.number(UInt16.self, at: 56)))]
        let tags = [(DT_HASH, 64), (DT_GNU_HASH, 96), (DT_SYMTAB, 24 * 16), (DT_STRTAB, 128)]
        for (tag, length) in tags {
            guard let entry = bytes.dynamicEntry(tag) else { continue }
            let start = bytes.offset(of: bytes.number(UInt64.self, at: entry + 8))
            ranges.append(start..<min(start + length, bytes.count))
        }
        for segment in bytes.segments(PT_DYNAMIC) {
            let start = Int(bytes.number(UInt64.self, at: segment + 8))
            ranges.append(start..<start + Int(bytes.number(UInt64.self, at: segment + 32)))
        }
        return ranges
    }

    @Test("a bit that flips anywhere in a structure never crashes the reader", arguments: ["gnu", "sysv"])
    func flips(style: String) throws {
        try Self.with(style: style) { specimen in
            var accepted = 0
            var refused = 0
            for offset in Self.structures(specimen.whole).joined() {
                for bit in [UInt8(0x01), 0x80] {
                    let isAccepted = try specimen.accepts([(offset, [specimen.whole[offset] ^ bit])])
                    if isAccepted { accepted += 1 } else { refused += 1 }
                }
            }
            #expect(accepted > 100)
            #expect(refused > 100)
        }
    }

    @Test("hostile numbers in any combination never crash the reader", arguments: ["gnu", "sysv", "both"])
    func hostileNumbers(style: String) throws {
        try Self.with(style: style) { specimen in
            var random = SeededGenerator(seed: 0x10CA_1DA7_A000_0001)
            let offsets = Array(Self.structures(specimen.whole).joined()).filter { $0 % 4 == 0 }
            var refused = 0
            for _ in 0..<3000 {
                let damages = (0..<Int.random(in: 1...3, using: &random)).compactMap { _ in
                    offsets.randomElement(using: &random).map { offset in
                        let number = Self.hostileNumbers.randomElement(using: &random) ?? 0
                        let width = Bool.random(using: &random) ? 8 : 4
                        return (offset, (0..<width).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
                    }
                }
                if try !specimen.accepts(damages) { refused += 1 }
            }
            #expect(refused > 1000 && refused < 3000)
        }
    }

    @Test("random bytes anywhere, and a cut anywhere behind them, never crash the reader")
    func noise() throws {
        try Self.with(style: "both") { specimen in
            var random = SeededGenerator(seed: 0x10CA_1DA7_A000_0002)
            for round in 0..<4000 {
                let offset = Int.random(in: 0..<specimen.whole.count, using: &random)
                let length = Int.random(in: 1...32, using: &random)
                let noise = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
                let cut = round % 2 == 0 ? nil : Int.random(in: 0..<specimen.whole.count, using: &random)
                // Truncating an undamaged file is always noticed; here the part that shows it may be damaged, too.
                _ = try specimen.accepts([(offset, noise)], cut: cut)
            }
        }
    }
}
