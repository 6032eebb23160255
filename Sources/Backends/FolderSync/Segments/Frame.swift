import DurableFiles
import Glibc
import LocalDataAPI

/// What a frame of a segment does.
enum FrameKind: UInt8, Sendable {
    /// It carries a record.
    case put = 1
    /// The record of that name is removed.
    case remove = 2
}

/// Where a frame was written first: a base restates it. Of two frames of one name, the one with the greater origin was
/// published later; so a base that a restored device wrote without knowing of newer records does not outdo them.
struct FrameOrigin: Hashable, Comparable {
    /// The stamp of that segment.
    let stamp: UInt64
    /// The offset there.
    let offset: Int

    static func < (one: FrameOrigin, other: FrameOrigin) -> Bool {
        (one.stamp, one.offset) < (other.stamp, other.offset)
    }
}

/// The form of a frame: length of the rest 4, CRC-32C 4, then kind 1, length of the name 1, the origin's stamp 8 and
/// offset 8, the name, the content. Numbers are little endian.
///
/// The checksum is also of the segment's id and the frame's offset, so no other bytes that a disk or a copying program
/// puts there pass for the frame, and no frame is skipped or doubled.
enum FrameForm {
    /// The bytes before the kind.
    static let head = 8
    /// The most bytes behind them.
    static let largestBody = fixed + 64 + FolderSync.largestContent
    /// The bytes behind them before the name.
    static let fixed = 18

    static func size(name: Int, content: Int) -> Int { head + fixed + name + content }

    static func checksum(_ id: UInt64, _ offset: Int, _ pieces: UnsafeRawBufferPointer...) -> UInt32 {
        var sum = Checksum()
        withUnsafeBytes(of: (id.littleEndian, UInt64(offset).littleEndian)) { sum.add($0) }
        for piece in pieces { sum.add(piece) }
        return sum.value
    }
}

/// A frame that was read. Valid until the reader reads the next one.
struct Frame {
    let kind: FrameKind?
    let origin: FrameOrigin
    let name: UnsafeRawBufferPointer
    let content: UnsafeRawBufferPointer

    var nameText: String { String(decoding: name, as: UTF8.self) }
}

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

/// Appends frames to a segment through a buffer of 256 KiB.
final class FrameWriter {
    let file: OpenFile
    let header: SegmentHeader
    /// Where the next frame begins.
    private(set) var offset: Int
    private var buffer: [UInt8] = []

    /// - Parameter offset: Where the frames begin.
    init(_ file: consuming OpenFile, _ header: SegmentHeader, from offset: Int) {
        self.file = file
        self.header = header
        self.offset = offset
    }

    /// Adds a frame. It is in the file after ``flush()``.
    ///
    /// - Parameter origin: Where it was written first; `nil` for here.
    func append(
        _ kind: FrameKind, origin: FrameOrigin? = nil, name: UnsafeRawBufferPointer, content: UnsafeRawBufferPointer
    ) throws {
        let origin = origin ?? FrameOrigin(stamp: header.name.stamp, offset: offset)
        var head: [UInt8] = []
        let length = UInt32(FrameForm.fixed + name.count + content.count)
        withUnsafeBytes(of: length.littleEndian) { head += $0 }
        var start: [UInt8] = [kind.rawValue, UInt8(name.count)]
        withUnsafeBytes(of: (origin.stamp.littleEndian, UInt64(origin.offset).littleEndian)) { start += $0 }
        let checksum = head.withUnsafeBytes { head in
            start.withUnsafeBytes { FrameForm.checksum(header.name.id, offset, head, $0, name, content) }
        }
        withUnsafeBytes(of: checksum.littleEndian) { head += $0 }
        buffer += head
        buffer += start
        buffer += name
        offset += FrameForm.size(name: name.count, content: content.count)
        if content.count > OpenFile.pieceSize / 2 {
            try flush(before: content.count)
            try file.write(content, at: offset - content.count)
        } else {
            buffer += content
            if buffer.count > OpenFile.pieceSize { try flush() }
        }
    }

    /// Writes what is in the buffer.
    func flush() throws { try flush(before: 0) }

    private func flush(before count: Int) throws {
        try buffer.withUnsafeBytes { try file.write($0, at: offset - count - $0.count) }
        buffer.removeAll(keepingCapacity: true)
    }
}
