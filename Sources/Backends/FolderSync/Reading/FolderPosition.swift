import ByteCoding
import FoundationEssentials
import LocalDataPluginAPI

/// How far a reader has come, as bytes for the host: for each writer the segments that it read last.
///
/// A writer takes about 20 bytes, so 4,096 bytes have room for some 180. Of more writers, those that have published
/// nothing for the longest time have no entries: a sum shows whether their folders are still as they were when all of
/// them was read. If not, the position is lost.
struct FolderPosition {
    struct Entry: Hashable {
        /// A hash of the writer's name. If two writers have the same, ids still tell their segments apart.
        let writer: UInt32
        let name: SegmentName
        let offset: Int

        /// About how many bytes an entry takes.
        static let size = 22
    }

    /// The writers without entries, all of whose records were read.
    struct Quiet: Hashable {
        /// Every writer that no entry names, and that has no segment with a greater stamp, is one of them.
        var newest: UInt64
        /// The sum of their fingerprints; see ``WriterSegments/fingerprint(ifAllIs:)``.
        var fingerprints: UInt64
    }

    var entries: [Entry]
    var quiet: Quiet?

    static let most = 4096
    private static let version: UInt8 = 1
    private static let versionWithQuiet: UInt8 = 2

    static func tag(of writer: String) -> UInt32 { UInt32(truncatingIfNeeded: StableHash.of(Array(writer.utf8))) }

    var encoded: [UInt8] {
        var bytes = ByteWriter(.littleEndian, [quiet == nil ? Self.version : Self.versionWithQuiet])
        if let quiet {
            bytes.add(compact: quiet.newest)
            bytes.add(quiet.fingerprints)
        }
        for entry in entries {
            bytes.add(entry.writer)
            bytes.add(entry.name.id)
            bytes.add(compact: entry.name.stamp)
            bytes.add(compact: UInt64(entry.offset))
        }
        bytes.addHash()
        return bytes.bytes
    }

    /// - Throws: `StorageError` if there are too many entries.
    func encoded(in folder: String) throws -> Data {
        let bytes = encoded
        guard bytes.count <= Self.most else {
            throw StorageError(
                .unsupported,
                "'\(folder)' has more unfinished subfolders than a position can name (\(entries.count) segments)",
                hint: "let the program that copies the folder finish, or remove the subfolders of devices that no "
                    + "longer exist")
        }
        return Data(bytes)
    }

    init(entries: [Entry] = [], quiet: Quiet? = nil) { (self.entries, self.quiet) = (entries, quiet) }

    /// Reads a position; `nil` if it is none.
    init?(_ data: Data) {
        guard var reader = ByteReader(hashed: .littleEndian, data), let version = reader.number(UInt8.self) else {
            return nil
        }
        switch version {
        case Self.version: break
        case Self.versionWithQuiet:
            guard let newest = reader.compact(), let sum = reader.number(UInt64.self) else { return nil }
            quiet = Quiet(newest: newest, fingerprints: sum)
        default: return nil
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
