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
