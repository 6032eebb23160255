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
        var bytes = Self.magic + [Self.version] + id.utf8
        Self.append(places.count, to: &bytes)
        for place in places {
            bytes.append(place.isBelowRoot ? 1 : 0)
            Self.append(place.path, to: &bytes)
        }
        Self.append(changes.count, to: &bytes)
        for change in changes {
            Self.append(change.place, to: &bytes)
            bytes.append(change.hasContent ? 1 : 0)
            Self.append(change.path, to: &bytes)
        }
        let sum = Self.checksum(bytes)
        return bytes + (0..<8).map { UInt8(truncatingIfNeeded: sum >> ($0 * 8)) }
    }

    /// Whether bytes are a journal of a later version.
    static func isLater(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: magic) && bytes.count > magic.count && bytes[magic.count] > version
    }

    init(id: String) { self.id = id }

    /// Reads a journal; `nil` if it is incomplete.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 32, bytes.starts(with: Self.magic + [Self.version]) else { return nil }
        let content = bytes.dropLast(8)
        let sum = bytes.suffix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard sum == Self.checksum(content) else { return nil }
        id = String(decoding: content[8..<24], as: UTF8.self)
        guard id.utf8.count == Self.idLength, id.utf8.allSatisfy(Self.isNameByte) else { return nil }
        var rest = content.dropFirst(24)
        guard let placeCount = Self.number(&rest) else { return nil }
        for _ in 0..<placeCount {
            guard let isBelowRoot = rest.popFirst(), let path = Self.bytes(&rest) else { return nil }
            places.append(Place(isBelowRoot: isBelowRoot != 0, path: path))
        }
        guard let changeCount = Self.number(&rest) else { return nil }
        for _ in 0..<changeCount {
            guard let place = Self.number(&rest), place < places.count, let hasContent = rest.popFirst(),
                let path = Self.bytes(&rest)
            else { return nil }
            changes.append(Change(place: place, hasContent: hasContent != 0, path: path))
        }
        guard rest.isEmpty else { return nil }
    }

    private static func append(_ number: Int, to bytes: inout [UInt8]) {
        for shift in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: number >> (shift * 8))) }
    }

    private static func append(_ path: [UInt8], to bytes: inout [UInt8]) {
        append(path.count, to: &bytes)
        bytes += path
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> Int? {
        guard rest.count >= 4 else { return nil }
        defer { rest = rest.dropFirst(4) }
        return rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private static func bytes(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard let count = number(&rest), count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
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
