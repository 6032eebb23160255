import DurableFiles
import Glibc
import LocalDataPluginAPI

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
