import ByteCoding
import DurableFiles
import LocalDataPluginAPI

/// What a segment's file begins with.
///
/// | bytes | what |
/// |---|---|
/// | 8 | 0x8B, `LDSYN`, CR and LF |
/// | 2 | the version, 1 |
/// | 2 | flags; bit 0: the segment is a base; bit 1: nothing will be added to the previous segment |
/// | 4 | the length of the header |
/// | 8 | the segment's stamp |
/// | 8 | its id |
/// | 3 × 8 | the previous segment's stamp, id and length; zeros without one |
/// | 8 | the length of the whole segment if it is a base; otherwise 0 |
/// | 8 | the floor of a base; otherwise 0 |
/// | 8 | the size of all segments at the next check for unneeded bytes |
/// | 1 | the length of the writer's name |
/// | varies | the writer's name |
/// | 4 | the number of covered segments |
/// | each | 8: the stamp; 8: the id; 8: the length |
/// | 4 | CRC-32C of all preceding bytes |
///
/// Numbers are little-endian.
struct SegmentHeader: Hashable, Sendable {
    /// The segment before, as far as the writer knew.
    struct Previous: Hashable, Sendable {
        var name: SegmentName
        /// How many of its bytes come before this segment.
        var length: Int
        /// Whether that is all that will ever be in it: this segment's process wrote both. Otherwise the rest may
        /// arrive, e.g. if a device was restored from an image with a part of the segment.
        var isFinal: Bool
    }

    /// What makes a segment a base: it has all records of the writer that were not removed or replaced, so what came
    /// before is unnecessary.
    struct Base: Hashable, Sendable {
        /// The length of the whole segment, to which nothing is ever added.
        var end: Int
        /// Segments with a smaller stamp may be left out of ``covered``.
        var floor: UInt64
        /// How many bytes of other segments are unnecessary. Bytes behind those are not: they arrived later.
        var covered: [SegmentName: Int]
    }

    var writer: String
    var name: SegmentName
    var previous: Previous?
    var base: Base?
    /// The size of all segments from which on the writer looks for bytes that are no longer needed.
    var nextCheck: Int

    /// The greatest number of covered segments.
    static let mostCovered = 4096
    /// The greatest length of a header in bytes.
    static let largest = 1 << 20
    private static let magic: [UInt8] = [0x8B] + Array("LDSYN\r\n".utf8)
    private static let version: UInt16 = 1
    private static let fixed = 16 + 8 * 8 + 1 + 4 + 4

    /// The number of bytes that it takes.
    var length: Int { Self.fixed + writer.utf8.count + 24 * (base?.covered.count ?? 0) }

    var encoded: [UInt8] {
        var bytes = ByteWriter(.littleEndian, Self.magic, capacity: length)
        bytes.add(Self.version)
        bytes.add(UInt16(base == nil ? 0 : 1) | UInt16(previous?.isFinal ?? false ? 2 : 0))
        bytes.add(UInt32(length))
        for number in [
            name.stamp, name.id, previous?.name.stamp ?? 0, previous?.name.id ?? 0, UInt64(previous?.length ?? 0),
            UInt64(base?.end ?? 0), base?.floor ?? 0, UInt64(nextCheck),
        ] { bytes.add(number) }
        bytes.add(UInt8(writer.utf8.count))
        bytes.add(Array(writer.utf8))
        bytes.add(UInt32(base?.covered.count ?? 0))
        for (name, length) in base?.covered ?? [:] {
            bytes.add(name.stamp)
            bytes.add(name.id)
            bytes.add(UInt64(length))
        }
        bytes.add(bytes.bytes.withUnsafeBytes { Checksum(of: $0).value })
        return bytes.bytes
    }

    /// The length that the first 16 bytes of a header give; `nil` if it is not a header of this version.
    static func length(of start: [UInt8]) -> Int? {
        var reader = ByteReader(.littleEndian, start)
        guard reader.bytes(8).map({ $0.elementsEqual(magic) }) == true, reader.number(UInt16.self) == version,
            reader.number(UInt16.self) != nil, let length = reader.number(UInt32.self),
            (fixed...largest).contains(Int(length))
        else { return nil }
        return Int(length)
    }

    /// Reads a whole header; `nil` if a byte of it is not as it was written.
    init?(_ bytes: [UInt8]) {
        let content = bytes.dropLast(4)
        var reader = ByteReader(.littleEndian, bytes)
        var checksum = ByteReader(.littleEndian, bytes.suffix(4))
        guard checksum.number(UInt32.self) == content.withUnsafeBytes({ Checksum(of: $0).value }),
            reader.bytes(10) != nil, let flags = reader.number(UInt16.self), reader.bytes(4) != nil
        else { return nil }
        var numbers: [UInt64] = []
        for _ in 0..<8 {
            guard let number = reader.number(UInt64.self), number < 1 << 62 || numbers.count < 4 else { return nil }
            numbers.append(number)
        }
        guard let count = reader.number(UInt8.self), let writer = reader.bytes(Int(count)), SyncRecord.isUsable(writer),
            let coveredCount = reader.number(UInt32.self)
        else { return nil }
        var covered: [SegmentName: Int] = [:]
        for _ in 0..<coveredCount {
            guard let stamp = reader.number(UInt64.self), let id = reader.number(UInt64.self),
                let length = reader.number(UInt64.self)
            else { return nil }
            covered[SegmentName(stamp: stamp, id: id)] = Int(clamping: length)
        }
        self.writer = String(decoding: writer, as: UTF8.self)
        name = SegmentName(stamp: numbers[0], id: numbers[1])
        if numbers[3] != 0 {
            previous = Previous(
                name: SegmentName(stamp: numbers[2], id: numbers[3]), length: Int(numbers[4]), isFinal: flags & 2 != 0)
        }
        if flags & 1 != 0 { base = Base(end: Int(numbers[5]), floor: numbers[6], covered: covered) }
        nextCheck = Int(numbers[7])
        guard length == bytes.count, name.stamp <= SegmentName.greatestStamp, base?.floor ?? 0 <= name.stamp,
            previous.map({ $0.name < name }) ?? true
        else { return nil }
    }

    init(writer: String, name: SegmentName, previous: Previous?, base: Base? = nil, nextCheck: Int) {
        self.writer = writer
        self.name = name
        self.previous = previous
        self.base = base
        self.nextCheck = nextCheck
    }
}
