import DurableFiles
import Glibc
import LocalDataPluginAPI

/// Reads the frames of a segment, one by one, through a buffer of 256 KiB, or the largest frame's size.
final class FrameReader {
    let file: OpenFile
    private let id: UInt64
    private let end: Int
    /// Where the next frame begins: all before it has been read and was as it was written.
    private(set) var offset: Int
    /// Whether the last frame that was asked for is there, with other bytes than were written.
    private(set) var isDamaged = false
    /// Whether there are bytes behind the last whole frame.
    var hasRest: Bool { offset < end }
    private var buffer: UnsafeMutableRawBufferPointer
    private var start = 0
    private var filled = 0

    /// - Parameter limit: Where the frames that count end; `nil` for the end of the file.
    init(_ file: consuming OpenFile, id: UInt64, from offset: Int, limit: Int? = nil) throws {
        let size = try file.status().size
        self.file = file
        self.id = id
        self.offset = offset
        end = min(size, limit ?? size)
        buffer = .allocate(byteCount: max(1, min(OpenFile.pieceSize, end - offset)), alignment: 8)
    }

    deinit { buffer.deallocate() }

    /// The next frame; `nil` at the end, and where the bytes are not those that were written.
    func next() throws -> Frame? {
        guard let head = try window(FrameForm.head) else { return nil }
        isDamaged = true
        let length = Int(UInt32(littleEndian: head.loadUnaligned(as: UInt32.self)))
        let checksum = UInt32(littleEndian: head.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        guard (FrameForm.fixed + 1...FrameForm.largestBody).contains(length) else { return nil }
        guard let bytes = try window(FrameForm.head + length) else {
            isDamaged = false
            return nil
        }
        let body = UnsafeRawBufferPointer(rebasing: bytes[FrameForm.head...])
        let first = UnsafeRawBufferPointer(rebasing: bytes[..<4])
        guard FrameForm.checksum(id, offset, first, body) == checksum else { return nil }
        let nameEnd = FrameForm.fixed + Int(body[1])
        guard nameEnd <= length else { return nil }
        let name = UnsafeRawBufferPointer(rebasing: body[FrameForm.fixed..<nameEnd])
        guard SyncRecord.isUsable(name) else { return nil }
        offset += bytes.count
        isDamaged = false
        return Frame(
            kind: FrameKind(rawValue: body[0]),
            origin: FrameOrigin(
                stamp: UInt64(littleEndian: body.loadUnaligned(fromByteOffset: 2, as: UInt64.self)),
                offset: Int(clamping: UInt64(littleEndian: body.loadUnaligned(fromByteOffset: 10, as: UInt64.self)))),
            name: name,
            content: UnsafeRawBufferPointer(rebasing: body[nameEnd...]))
    }

    /// Reads to the last whole frame.
    func skipAll() throws { while try next() != nil {} }

    /// So many bytes from the next frame's beginning on; `nil` if the segment has fewer.
    private func window(_ count: Int) throws -> UnsafeRawBufferPointer? {
        guard count <= end - offset else { return nil }
        if offset < start || offset + count > start + filled {
            if count > buffer.count {
                buffer.deallocate()
                buffer = .allocate(byteCount: count, alignment: 8)
            }
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, end - offset)])
            start = offset
            filled = try file.read(into: piece, from: offset)
            guard filled >= count else { return nil }
        }
        return UnsafeRawBufferPointer(rebasing: buffer[(offset - start)..<(offset - start + count)])
    }
}
