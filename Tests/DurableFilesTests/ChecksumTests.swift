import DurableFiles
import Testing

@Suite("Checksums") struct ChecksumTests {
    @Test("are those of the standard", arguments: [("123456789", 0xe306_9283 as UInt32), ("", 0), ("a", 0xc1d0_4330)])
    func standard(_ text: String, _ expected: UInt32) {
        let bytes = Array(text.utf8)
        #expect(bytes.withUnsafeBytes { Checksum(of: $0).value } == expected)
        #expect(bytes.withUnsafeBytes { Checksum(of: $0).count } == bytes.count)
    }

    @Test("of many bytes are the same a bit at a time, and in any pieces")
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

    private static func slow(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var crc = UInt32.max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0x82f6_3b78 : crc >> 1 }
        }
        return ~crc
    }
}
