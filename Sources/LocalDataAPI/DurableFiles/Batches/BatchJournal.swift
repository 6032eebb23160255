internal import ByteCoding

/// The plan of a batch, written before it begins: the files that it changes, and where their new contents are.
///
/// | bytes | what |
/// |---|---|
/// | 8 | `LDBATCH` and the version, 1 |
/// | 16 | the batch's name |
/// | 4 | number of locations |
/// | each | 1: whether the path starts at the root; 4: its length; the path |
/// | 4 | number of changes |
/// | each | 4: the location's number; 1: whether there is content; 4: the path's length; the path |
/// | 8 | FNV-1a of all preceding bytes |
///
/// Numbers are little-endian. The path of a location below the root is relative to it, so that recovery works after the
/// root was moved.
struct BatchJournal {
    struct Place: Hashable {
        let isBelowRoot: Bool
        let path: [UInt8]
    }

    struct Change {
        /// The number of the location.
        let place: Int
        let hasContent: Bool
        let path: [UInt8]
    }

    /// 16 letters and digits; see ``BatchFolder/newID()``.
    let id: String
    var places: [Place] = []
    var changes: [Change] = []

    /// The bytes of the file.
    var encoded: [UInt8] {
        var writer = ByteWriter(.littleEndian, Self.magic + [Self.version] + id.utf8)
        writer.add(UInt32(places.count))
        for place in places {
            writer.add(UInt8(place.isBelowRoot ? 1 : 0))
            writer.add(UInt32(place.path.count))
            writer.add(place.path)
        }
        writer.add(UInt32(changes.count))
        for change in changes {
            writer.add(UInt32(change.place))
            writer.add(UInt8(change.hasContent ? 1 : 0))
            writer.add(UInt32(change.path.count))
            writer.add(change.path)
        }
        writer.addHash()
        return writer.bytes
    }

    /// Whether bytes are a journal of a later version.
    static func isLater(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: magic) && bytes.count > magic.count && bytes[magic.count] > version
    }

    init(id: String) { self.id = id }

    /// Reads a journal; `nil` if it is incomplete.
    init?(_ bytes: [UInt8]) {
        let start = Self.magic + [Self.version]
        guard bytes.starts(with: start), var reader = ByteReader(hashed: .littleEndian, bytes),
            reader.bytes(start.count) != nil, let name = reader.bytes(Self.idLength), name.allSatisfy(Self.isNameByte),
            let placeCount = reader.number(UInt32.self)
        else { return nil }
        id = String(decoding: name, as: UTF8.self)
        for _ in 0..<placeCount {
            guard let isBelowRoot = reader.number(UInt8.self), let path = Self.path(&reader) else { return nil }
            places.append(Place(isBelowRoot: isBelowRoot != 0, path: path))
        }
        guard let changeCount = reader.number(UInt32.self) else { return nil }
        for _ in 0..<changeCount {
            guard let place = reader.number(UInt32.self), place < places.count,
                let hasContent = reader.number(UInt8.self), let path = Self.path(&reader)
            else { return nil }
            changes.append(Change(place: Int(place), hasContent: hasContent != 0, path: path))
        }
        guard reader.isAtEnd else { return nil }
    }

    private static func path(_ reader: inout ByteReader) -> [UInt8]? {
        reader.number(UInt32.self).flatMap { reader.bytes(Int($0)) }.map { Array($0) }
    }

    /// The length of a batch's name in bytes.
    static let idLength = 16

    static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: false
        }
    }

    private static let magic = Array("LDBATCH".utf8)
    private static let version: UInt8 = 1
}

extension BatchJournal.Place {
    /// A folder by its absolute path.
    init(_ path: String, root: String) {
        let above = root == "/" ? root : root + "/"
        isBelowRoot = path == root || path.utf8.starts(with: above.utf8)
        self.path = Array(isBelowRoot ? path.utf8.dropFirst(above.utf8.count) : path.utf8[...])
    }
}
