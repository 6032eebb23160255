import DurableFiles

/// What a row has of its value's checksum: in the upper half the CRC-32C of the bytes, in the lower the lower half of
/// the row's `version`. A program that knows no checksums changes the version and leaves the column as it is; what it
/// stored is then not compared with the checksum of another value.
enum RowChecksum {
    /// What is stored for a value.
    static func number(_ content: Checksum, version: Int64) -> Int64 {
        Int64(bitPattern: UInt64(content.value) << 32 | lower(version))
    }

    /// The checksum that a value of a version has; `nil` if it is not known.
    @inline(__always)
    static func checksum(in number: Int64?, version: Int64) -> UInt32? {
        guard let number, lower(number) == lower(version) else { return nil }
        return UInt32(UInt64(bitPattern: number) >> 32)
    }

    private static func lower(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) & 0xffff_ffff }
}
