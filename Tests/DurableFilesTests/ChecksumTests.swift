import CChecksum
import DurableFiles
import Testing

@Suite("Checksums") struct ChecksumTests {
    @Test("are those of the standard", arguments: [("123456789", 0xe306_9283 as UInt32), ("", 0), ("a", 0xc1d0_4330)])
    func standard(_ text: String, _ expected: UInt32) {
        let bytes = Array(text.utf8)
        #expect(bytes.withUnsafeBytes { Checksum(of: $0).value } == expected)
        #expect(bytes.withUnsafeBytes { Checksum(of: $0).count } == bytes.count)
    }

    @Test("of many bytes equal those computed bit by bit, in any pieces")
    func pieces() {
        let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        bytes.withUnsafeBytes { bytes in
            for count in [1, 7, 8, 127, 383, 384, 385, 3071, 3072, 3073, 16_384, 19_990] {
                for start in [0, 1, 5] {
                    let part = UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
                    #expect(Checksum(of: part).value == Self.slow(part), "\(count) from \(start)")
                    var whole = Checksum()
                    whole.add(UnsafeRawBufferPointer(rebasing: part[..<(count / 3)]))
                    whole.add(UnsafeRawBufferPointer(rebasing: part[(count / 3)...]))
                    #expect(whole == Checksum(of: part))
                }
            }
        }
    }

    /// Each implementation that this processor supports, including those that it would not choose by itself.
    private static var ways: [(name: String, sum: (UInt32, UnsafePointer<UInt8>?, Int) -> UInt32)] {
        var ways: [(name: String, sum: (UInt32, UnsafePointer<UInt8>?, Int) -> UInt32)] = []
        if ld_crc32c_is_offered() != 0 { ways.append(("by instructions", { ld_crc32c_fast($0, $1, $2) })) }
        if ld_crc32c_is_wide_offered() != 0 { ways.append(("by wide products", { ld_crc32c_wide($0, $1, $2) })) }
        return ways
    }

    @Test("are the same however the processor computes them, for every length and alignment")
    func processors() {
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<5_100).map { _ in UInt8.random(in: 0...255, using: &random) }
        bytes.withUnsafeBufferPointer { bytes in
            guard let first = bytes.baseAddress else { return }
            for start in [0, 1, 3, 8, 17, 63] {
                // Each length continues the one before it, so that the slow way takes each byte once.
                var expected: UInt32 = 0x1234_5678
                let begin = expected
                for count in 0...5_000 {
                    for way in Self.ways where way.sum(begin, first + start, count) != expected {
                        Issue.record("\(way.name): \(count) bytes from \(start)")
                    }
                    expected = ld_crc32c_portable(expected, first + start + count, 1)
                }
            }
        }
    }

    private static func slow(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var crc = UInt32.max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0x82f6_3b78 : crc >> 1 }
        }
        return ~crc
    }
}
