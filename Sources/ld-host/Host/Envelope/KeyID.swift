internal import FoundationEssentials
internal import LocalDataAPI

/// Identifies a key: 16 bytes, random for the keys of a ring, derived from the key for those from outside.
package struct KeyID: Hashable, Sendable {
    /// The size of an id in bytes.
    package static let size = 16

    package let high: UInt64
    package let low: UInt64

    /// Reads the 16 bytes at the start of a buffer.
    init(_ bytes: UnsafeRawBufferPointer) {
        high = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// The id that 32 hexadecimal digits encode; `nil` for other text.
    package init?(_ text: some StringProtocol) {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        // Integer parsing accepts a sign, an id does not.
        guard digits.count == 32, digits[0] != UInt8(ascii: "+"), digits[16] != UInt8(ascii: "+"),
            let high = UInt64(String(decoding: digits[..<16], as: UTF8.self), radix: 16),
            let low = UInt64(String(decoding: digits[16...], as: UTF8.self), radix: 16)
        else { return nil }
        self.high = high
        self.low = low
    }

    /// The 16 bytes.
    var bytes: [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }
}

extension KeyID: CustomStringConvertible {
    /// 32 lower-case hexadecimal digits.
    package var description: String {
        [high, low].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

extension KeyID: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
