import Glibc
import LocalDataPluginAPI

/// Combines pieces of any size into writes of a fixed one.
final class PieceBuffer {
    private let buffer: UnsafeMutableRawBufferPointer
    private var filled = 0
    /// How much of the buffer was ever filled: the rest costs no memory, and needs no clearing.
    private var used = 0
    private var failure: (any Error)?
    private var content = Checksum()

    init() { buffer = .allocate(byteCount: OpenFile.pieceSize, alignment: 16) }

    deinit {
        if let start = buffer.baseAddress { explicit_bzero(start, used) }
        buffer.deallocate()
    }

    /// Adds a piece and writes each full buffer.
    func append(_ piece: RawSpan, to file: borrowing OpenFile) throws {
        if let failure { throw failure }
        do {
            try piece.withUnsafeBytes { bytes in
                content.add(bytes)
                if bytes.count > buffer.count - filled { try flush(to: file) }
                guard bytes.count < buffer.count else { return try file.write(bytes) }
                UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyMemory(from: bytes)
                filled += bytes.count
                used = max(used, filled)
            }
        } catch {
            failure = error
            throw error
        }
    }

    /// Writes the rest and returns the checksum of everything. Rethrows what `append` threw, in case the source ignored
    /// it.
    func finish(to file: borrowing OpenFile) throws -> Checksum {
        if let failure { throw failure }
        try flush(to: file)
        return content
    }

    private func flush(to file: borrowing OpenFile) throws(StorageError) {
        try file.write(UnsafeRawBufferPointer(rebasing: buffer[..<filled]))
        filled = 0
    }
}
