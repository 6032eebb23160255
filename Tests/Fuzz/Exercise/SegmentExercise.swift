import ByteCoding
import DurableFiles
import FoundationEssentials
import Glibc
import LocalDataAPI
import ReaderExercise

@testable import FolderSync

/// Files that a copying program may put into a folder that devices share: names, headers and frames of segments, read
/// one by one and through a whole fetch; and positions in them.
enum SegmentExercise {
    static func run(_ bytes: Data) throws {
        try checkName(Array(bytes))
        // Positions, headers and frames have checksums, which mutations never get right.
        for data in [bytes, hashed(bytes)] { try checkPosition(data) }
        for segment in [Array(bytes), checksummed(Array(bytes))] {
            guard let length = SegmentHeader.length(of: segment), length <= segment.count,
                let header = SegmentHeader(Array(segment[..<length]))
            else { continue }
            try require(SegmentHeader(header.encoded) == header, "a header that was written is read as another one")
            try checkFetch(segment, header)
        }
    }

    private static func checkName(_ bytes: [UInt8]) throws {
        guard let name = SegmentName(bytes) else { return }
        try require(Array(name.description.utf8) == bytes, "a segment's name that was read is written as another one")
    }

    private static func checkPosition(_ bytes: Data) throws {
        guard let position = FolderPosition(bytes), bytes.count <= FolderPosition.most / 2 else { return }
        let again = FolderPosition(try position.encoded(in: "folder"))
        try require(
            again?.entries == position.entries && again?.quiet == position.quiet,
            "a position that was written is read as another one")
    }

    /// Checks that a fetch reads a segment up to some position, and nothing new from there.
    private static func checkFetch(_ segment: [UInt8], _ header: SegmentHeader) throws {
        var template = Array("\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/segment-exercise.XXXXXX\0".utf8)
            .map { CChar(bitPattern: $0) }
        guard mkdtemp(&template) != nil else { throw Violation("no folder can be made") }
        let root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let file = "\(root)/\(header.writer)/\(header.name)"
        defer {
            unlink(file)
            rmdir("\(root)/\(header.writer)")
            rmdir(root)
        }
        mkdir("\(root)/\(header.writer)", 0o700)
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        let count = segment.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        guard count == segment.count else { throw Violation("'\(file)' cannot be written") }
        let folder = try SharedFolder(path: root, marker: "")
        let (_, position) = try records(in: folder, of: segment.count, since: FolderPosition())
        let (later, end) = try records(in: folder, of: segment.count, since: position)
        try require(later == 0, "\(later) records are read again from the position behind them")
        try require(end.entries == position.entries, "a fetch without records moves the position")
    }

    private static func records(
        in folder: SharedFolder, of size: Int, since start: FolderPosition
    ) throws -> (count: Int, position: FolderPosition) {
        let reading = Reading(folder, HeaderCache(), since: start)
        try reading.list()
        try require(reading.lostPart() == nil, "a position is lost that was just reached")
        var count = 0
        try reading.read { record in
            guard SyncRecord.isUsable(record.name.utf8) else {
                throw Violation("'\(record.name)' is no name of a record")
            }
            count += 1
            return true
        }
        // A frame with other bytes than were written is named; all else can be read.
        let end = reading.position.entries.map(\.offset).max() ?? 0
        try require(
            reading.problems.isEmpty || reading.problems.count == 1 && !reading.damaged.isEmpty && end < size,
            "\(reading.problems)")
        return (count, reading.position)
    }

    private static func hashed(_ bytes: Data) -> Data {
        var writer = ByteWriter(.littleEndian, Array(bytes))
        writer.addHash()
        return Data(writer.bytes)
    }

    /// The bytes with the right checksums, as far as they have the structure of a segment.
    private static func checksummed(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        guard let length = SegmentHeader.length(of: bytes), length <= bytes.count else { return bytes }
        set(bytes[..<(length - 4)].withUnsafeBytes { Checksum(of: $0).value }, &bytes, at: length - 4)
        guard let header = SegmentHeader(Array(bytes[..<length])) else { return bytes }
        var offset = length
        while offset + FrameForm.head <= bytes.count {
            let first = bytes[offset..<offset + 4]
            let size = first.reversed().reduce(0) { $0 << 8 | Int($1) }
            let start = offset + FrameForm.head
            guard size <= bytes.count - start else { break }
            let sum = bytes.withUnsafeBytes { bytes in
                FrameForm.checksum(
                    header.name.id, offset, UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + 4]),
                    UnsafeRawBufferPointer(rebasing: bytes[start..<start + size]))
            }
            set(sum, &bytes, at: offset + 4)
            offset = start + size
        }
        return bytes
    }

    private static func set(_ number: UInt32, _ bytes: inout [UInt8], at offset: Int) {
        for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: number >> UInt32(8 * index)) }
    }

    static func samples() throws -> [[UInt8]] {
        let name = SegmentName(stamp: 1_700_000_000_000_000, id: 7)
        let previous = SegmentHeader.Previous(name: SegmentName(stamp: 9, id: 8), length: 200, isFinal: true)
        var base = SegmentHeader(
            writer: "b", name: name, previous: previous,
            base: .init(end: 0, floor: 5, covered: [previous.name: 200, SegmentName(stamp: 10, id: 3): 99]),
            nextCheck: 4096)
        let plain = SegmentHeader(writer: "0123456789abcdef", name: name, previous: nil, nextCheck: 0)
        let end = base.length + frames(of: base).count
        base.base?.end = end
        let position = FolderPosition(entries: [
            .init(writer: FolderPosition.tag(of: "b"), name: name, offset: 300),
            .init(writer: 1, name: previous.name, offset: 1 << 40),
        ])
        return [plain.encoded + frames(of: plain), base.encoded + frames(of: base), plain.encoded, base.encoded]
            + [Array("\(name)".utf8), Array(try position.encoded(in: "folder").dropLast(hashed(Data()).count))]
    }

    private static func frames(of header: SegmentHeader) -> [UInt8] {
        var bytes: [UInt8] = []
        for (kind, name, content) in [
            (FrameKind.put, "a-1", [UInt8](repeating: 3, count: 40)), (.put, "b", []), (.remove, "a-1", []),
            (.put, String(repeating: "z", count: 64), [0, 255]),
        ] {
            var writer = ByteWriter(.littleEndian)
            writer.add(UInt32(FrameForm.fixed + name.utf8.count + content.count))
            writer.add(UInt32(0))
            writer.add(kind.rawValue)
            writer.add(UInt8(name.utf8.count))
            writer.add(header.name.stamp)
            writer.add(UInt64(header.length + bytes.count))
            writer.add(name.utf8)
            writer.add(content)
            bytes += writer.bytes
        }
        return bytes
    }
}
