import ByteCoding
import FoundationEssentials
import LocalDataAPI

/// How far a reader has come, as bytes for the host: for each writer the segments that it read last.
///
/// A writer takes about 20 bytes; so 4,096 bytes are enough for some 180.
struct Position {
    struct Entry: Hashable {
        /// A hash of the writer's name. If two writers have the same, ids still tell their segments apart.
        let writer: UInt32
        let name: SegmentName
        let offset: Int
    }

    var entries: [Entry]

    static let most = 4096
    private static let version: UInt8 = 1

    static func tag(of writer: String) -> UInt32 { UInt32(truncatingIfNeeded: StableHash.of(Array(writer.utf8))) }

    /// - Throws: `StorageError` if there are too many entries.
    func encoded(in folder: String) throws -> Data {
        var bytes = ByteWriter(.littleEndian, [Self.version])
        for entry in entries {
            bytes.add(entry.writer)
            bytes.add(entry.name.id)
            bytes.add(compact: entry.name.stamp)
            bytes.add(compact: UInt64(entry.offset))
        }
        bytes.addHash()
        guard bytes.bytes.count <= Self.most else {
            throw StorageError(
                .unsupported, "'\(folder)' has more writers than a position can name (\(entries.count) segments)",
                hint: "remove the subfolders of devices that no longer exist")
        }
        return Data(bytes.bytes)
    }

    init(entries: [Entry] = []) { self.entries = entries }

    /// Reads a position; `nil` if it is none.
    init?(_ data: Data) {
        guard var reader = ByteReader(hashed: .littleEndian, data), reader.number(UInt8.self) == Self.version else {
            return nil
        }
        entries = []
        while !reader.isAtEnd {
            guard let writer = reader.number(UInt32.self), let id = reader.number(UInt64.self),
                let stamp = reader.compact(), let offset = reader.compact(), offset < 1 << 62
            else { return nil }
            entries.append(Entry(writer: writer, name: SegmentName(stamp: stamp, id: id), offset: Int(offset)))
        }
    }
}

extension ByteWriter {
    /// Adds a number in as few bytes as it needs, seven bits in each (LEB128).
    fileprivate mutating func add(compact number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            add(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        add(UInt8(rest))
    }
}

extension ByteReader {
    fileprivate mutating func compact() -> UInt64? {
        var result: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = number(UInt8.self) else { return nil }
            result |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return result }
        }
        return nil
    }
}
