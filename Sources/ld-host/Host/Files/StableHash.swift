internal import FoundationEssentials

/// FNV-1a, 64 bits: the same in every process, unlike Swift's own hash. For file names and for distinguishing stores,
/// not against deliberate collisions.
enum StableHash {
    /// The hash of several words; their borders count.
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

    /// The hash of no bytes, the start for adding pieces.
    static let start: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Adds the next bytes.
    static func add(_ piece: UnsafeRawBufferPointer, to hash: inout UInt64) {
        for byte in piece { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }

    /// The hash of a file's bytes, in units of eight; `nil` if it cannot be read.
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

    /// The hash of several words as text.
    static func text(_ words: [String]) -> String { String(of(words), radix: 16) }
}
