/// FNV-1a, 64 bits: the same in every process, unlike Swift's own hash. For file names, for distinguishing stores and
/// for finding damage, not against deliberate collisions.
public enum StableHash {
    /// The hash of no bytes, the start for adding pieces.
    public static let start: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Adds the next bytes.
    public static func add(_ piece: UnsafeRawBufferPointer, to hash: inout UInt64) {
        for byte in piece { hash = (hash ^ UInt64(byte)) &* prime }
    }

    /// The hash of some bytes.
    public static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = start
        add(bytes, to: &hash)
        return hash
    }

    /// The hash of some bytes.
    public static func of(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { of($0) } }

    /// The hash of several words; their borders count.
    public static func of(_ words: [String]) -> UInt64 { of(words.flatMap { Array($0.utf8) + [0] }) }

    /// The hash of several words as text.
    public static func text(_ words: [String]) -> String { String(of(words), radix: 16) }

    /// What each step multiplies by.
    public static let prime: UInt64 = 0x100_0000_01B3
}
