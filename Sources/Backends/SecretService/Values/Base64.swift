internal import CSecret

/// Base64 (RFC 4648, section 4) in memory that the caller clears.
enum Base64 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()

    /// The number of letters for a number of bytes, including padding.
    static func encodedCount(_ count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Writes the letters of `bytes` to `output`, which has exactly their size.
    static func encode(_ bytes: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer) {
        letters.withUnsafeBufferPointer { letters in
            var written = 0
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let count = min(3, bytes.count - start)
                var group = UInt32(bytes[start]) << 16
                if count > 1 { group |= UInt32(bytes[start + 1]) << 8 }
                if count > 2 { group |= UInt32(bytes[start + 2]) }
                for place in 0..<4 {
                    output[written] = place <= count ? letters[Int(group >> (18 - 6 * UInt32(place)) & 63)] : padding
                    written += 1
                }
            }
        }
    }

    /// The number of encoded bytes; `nil` if the number of letters is impossible.
    static func decodedCount(_ letters: UnsafeRawBufferPointer) -> Int? {
        guard letters.count % 4 == 0 else { return nil }
        guard let last = letters.last, last == padding else { return letters.count / 4 * 3 }
        return letters.count / 4 * 3 - (letters[letters.count - 2] == padding ? 2 : 1)
    }

    /// Writes the decoded bytes to `output`, which has exactly their size; `false` unless the letters are the encoding
    /// of these bytes.
    static func decode(_ letters: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer) -> Bool {
        values.withUnsafeBufferPointer { values in
            var written = 0
            for start in stride(from: 0, to: letters.count, by: 4) {
                let count = min(3, output.count - written)
                var group: UInt32 = 0
                for place in 0..<4 {
                    let letter = letters[start + place]
                    let value = place > count ? (letter == padding ? 0 : 0xFF) : values[Int(letter)]
                    guard value != 0xFF else { return false }
                    group = group << 6 | UInt32(value)
                }
                for place in 0..<count {
                    output[written + place] = UInt8(truncatingIfNeeded: group >> (16 - 8 * place))
                }
                guard count == 3 || group & (UInt32(1) << (24 - 8 * UInt32(count)) - 1) == 0 else { return false }
                written += count
            }
            return written == output.count
        }
    }
}
