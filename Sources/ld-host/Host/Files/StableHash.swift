internal import FoundationEssentials

/// FNV-1a, 64 bits: the same in every process, unlike Swift's own. For names of files and for telling stores apart, not
/// against someone who makes two texts alike on purpose.
enum StableHash {
    /// The hash of some words; where one ends and the next begins counts.
    static func of(_ words: [String]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for word in words {
            for byte in Array(word.utf8) + [0] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        return hash
    }

    /// The hash of some bytes.
    static func of(_ bytes: Data) -> UInt64 {
        var hash = start
        bytes.withUnsafeBytes { add($0, to: &hash) }
        return hash
    }

    /// The hash of no bytes, to which pieces are added.
    static let start: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Goes on with the next bytes.
    static func add(_ piece: UnsafeRawBufferPointer, to hash: inout UInt64) {
        for byte in piece { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }

    /// The hash of a file's bytes, taken by eights; `nil` if it cannot be read.
    static func ofFile(_ path: String) -> UInt64? {
        guard let data = try? Data(contentsOf: URL(filePath: path), options: .mappedIfSafe) else { return nil }
        return data.withUnsafeBytes { bytes in
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(bytes.count)
            for offset in stride(from: 0, to: bytes.count & ~7, by: 8) {
                hash = (hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* 0x100_0000_01B3
                hash ^= hash >> 32
            }
            for byte in bytes.suffix(bytes.count & 7) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            return hash
        }
    }

    /// The same as text.
    static func text(_ words: [String]) -> String { String(of(words), radix: 16) }
}
