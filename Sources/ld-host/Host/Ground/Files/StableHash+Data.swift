internal import ByteCoding
package import FoundationEssentials
internal import Glibc

extension StableHash {
    /// The hash of some bytes.
    package static func of(_ bytes: Data) -> UInt64 { bytes.withUnsafeBytes { of($0) } }

    /// The hash of a file's bytes, in units of eight; `nil` if it cannot be read. It is read in pieces, since a library
    /// may be large.
    package static func ofFile(_ path: String) -> UInt64? {
        // Not mapped: a file that is truncated meanwhile would end the process.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: pieceSize, alignment: 8) { buffer in
            var (hash, left) = (start ^ UInt64(status.st_size), Int(status.st_size))
            while left > 0 {
                let wanted = min(left, buffer.count)
                guard fill(buffer, wanted, from: file) else { return nil }
                for offset in stride(from: 0, to: wanted & ~7, by: 8) {
                    hash = (hash ^ buffer.load(fromByteOffset: offset, as: UInt64.self)) &* prime
                    hash ^= hash >> 32
                }
                add(UnsafeRawBufferPointer(rebasing: buffer[(wanted & ~7)..<wanted]), to: &hash)
                left -= wanted
            }
            return hash
        }
    }

    /// Reads so many bytes; `false` if there are fewer.
    private static func fill(_ buffer: UnsafeMutableRawBufferPointer, _ wanted: Int, from file: Int32) -> Bool {
        var filled = 0
        while filled < wanted {
            let count = read(file, buffer.baseAddress.map { $0 + filled }, wanted - filled)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            filled += count
        }
        return true
    }

    /// A multiple of eight bytes.
    private static let pieceSize = 64 << 10
}
