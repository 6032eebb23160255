import TestSupport

/// Changes inputs, the same way in every run.
package struct Mutator: RandomNumberGenerator {
    private var generator: SeededGenerator

    package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    package mutating func next() -> UInt64 { generator.next() }

    private static let hostileNumbers: [UInt64] = [
        0, 1, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 32, .max >> 1, 1 << 63, .max - 7, .max,
    ]

    private static let hostileTexts = [
        "-9223372036854775808", "9223372036854775807", "1e-9223372036854775808", "18446744073709551616", "1e999", "-0",
        "\\u0000", "\\uD800", "\u{FEFF}", "\u{0}", "\r\n", "//", "/*", "[[[[", "{\"\":", "%00", "%", "=", "\"", "null",
    ]

    /// An input from another one, by one to four changes.
    ///
    /// - Parameter others: Inputs to take pieces of; not empty.
    package mutating func mutated(_ input: [UInt8], among others: [[UInt8]]) -> [UInt8] {
        var bytes = input
        for _ in 0..<Int.random(in: 1...4, using: &self) { change(&bytes, others) }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8], _ others: [[UInt8]]) {
        let offset = Int.random(in: 0...bytes.count, using: &self)
        let length = min(bytes.count - offset, Int.random(in: 1...16, using: &self))
        switch Int.random(in: 0..<8, using: &self) {
        case 0 where offset < bytes.count: bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        case 1 where offset < bytes.count: bytes[offset] = UInt8.random(in: .min ... .max, using: &self)
        case 2: bytes.removeSubrange(offset..<(offset + length))
        case 3: bytes.insert(contentsOf: Array(bytes[offset..<(offset + length)]), at: offset)
        case 4:
            let number = Self.hostileNumbers.randomElement(using: &self) ?? 0
            let width = [1, 2, 4, 8].randomElement(using: &self) ?? 8
            let piece = (0..<width).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            let isBigEndian = Bool.random(using: &self)
            let end = min(bytes.count, offset + width)
            bytes.replaceSubrange(offset..<end, with: isBigEndian ? piece.reversed() : piece)
        case 5: bytes.insert(contentsOf: (Self.hostileTexts.randomElement(using: &self) ?? "").utf8, at: offset)
        case 6:
            guard let other = others.randomElement(using: &self), !other.isEmpty else { return }
            let start = Int.random(in: 0..<other.count, using: &self)
            let piece = other[start...].prefix(Int.random(in: 1...64, using: &self))
            bytes.replaceSubrange(offset..<(offset + length), with: piece)
        default: bytes.removeLast(bytes.count - offset)
        }
    }
}
