import DurableFiles
import LocalDataPluginAPI

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
