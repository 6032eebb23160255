internal import ByteCoding
internal import FoundationEssentials

extension StableHash {
    /// The hash of some bytes.
    static func of(_ bytes: Data) -> UInt64 { bytes.withUnsafeBytes { of($0) } }

    /// The hash of a file's bytes, in units of eight; `nil` if it cannot be read.
    static func ofFile(_ path: String) -> UInt64? {
        // Not mapped: a file that is truncated meanwhile would end the process.
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
        return data.withUnsafeBytes { bytes in
            var hash = start ^ UInt64(bytes.count)
            for offset in stride(from: 0, to: bytes.count & ~7, by: 8) {
                hash = (hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* prime
                hash ^= hash >> 32
            }
            add(UnsafeRawBufferPointer(rebasing: bytes.suffix(bytes.count & 7)), to: &hash)
            return hash
        }
    }
}
