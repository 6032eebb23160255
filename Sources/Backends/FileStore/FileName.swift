import DurableFiles
import LocalDataPluginAPI

/// The spelling of a name in the file system.
///
/// `a-z`, `0-9`, `.`, `_` and `-` stay as they are; every other byte of the UTF-8 is written `%XX` in upper-case hex.
/// That covers upper case (some file systems ignore case), everything outside of ASCII (some normalize it), `/`, and
/// `~`. A `.` at the start is written `%2E`, so that nothing is hidden, nor `..`; one at the end likewise, since FAT
/// drops it.
///
/// A spelling that is too long for a file's name is split into pieces, never inside of a `%XX`. All but the last are
/// names of folders, followed by `~`. No piece starts with a `.`. So every name has exactly one spelling in each
/// ``Room``, and no two names share one.
struct FileName {
    /// The room that a file system has for a file's name.
    struct Room: Equatable {
        fileprivate let longest: Int
        fileprivate let longestPiece: Int

        /// 255 bytes, in pieces of at most 240.
        static let usual = Room(longest: 255, longestPiece: 240)
        /// 143 bytes, as eCryptfs has, in pieces of at most 128.
        static let small = Room(longest: 143, longestPiece: 128)

        /// The room where names can have so many bytes.
        static func fitting(_ longest: Int) -> Room { longest < usual.longest ? .small : .usual }
    }

    /// The name's folders from the outermost, and its file.
    let pieces: [[UInt8]]
    /// The length of the encoded name.
    private let length: Int

    /// Whether the spelling depends on the file system's room.
    var dependsOnRoom: Bool { length > Room.small.longest }

    /// Spells a name.
    init(_ name: some Collection<UInt8>, for room: Room = .usual) {
        self.init(encoded: Self.encode(name, isKept: Self.isKept), for: room)
    }

    /// Splits an encoded name.
    init(encoded: [UInt8], for room: Room = .usual) {
        length = encoded.count
        pieces = length <= room.longest ? [encoded] : Self.split(encoded, room.longestPiece)
    }

    /// Encodes the bytes of a name, except those that may stay.
    static func encode(_ name: some Collection<UInt8>, isKept: (UInt8) -> Bool) -> [UInt8] {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(name.count)
        let last = name.count - 1
        for (index, byte) in name.enumerated() {
            if isKept(byte), byte != dot || (index != 0 && index != last) {
                encoded.append(byte)
            } else {
                escape(byte, to: &encoded)
            }
        }
        return encoded
    }

    /// Reverses `encode`. It also accepts spellings that `encode` would not produce: the caller compares.
    static func decode(_ encoded: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = encoded[...]
        while let byte = rest.popFirst() {
            guard byte == percent else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(value), let low = rest.popFirst().flatMap(value) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// The name with this spelling; `nil` for every spelling that this type does not produce.
    ///
    /// - Parameter folders: The names of folders without their `~`.
    static func name(folders: [[UInt8]], file: [UInt8]) -> String? {
        let pieces = folders + [file]
        guard let bytes = decode(Array(pieces.joined())), !bytes.isEmpty, !bytes.contains(0),
            FileName(bytes).pieces == pieces || FileName(bytes, for: .small).pieces == pieces
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    static func isKept(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), dot, UInt8(ascii: "_"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private static func split(_ encoded: [UInt8], _ longestPiece: Int) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var piece: [UInt8] = []
        var rest = encoded[...]
        while let first = rest.first {
            let unit = rest.prefix(first == percent ? 3 : 1)
            rest = rest.dropFirst(unit.count)
            if piece.count + unit.count > longestPiece {
                pieces.append(piece)
                piece = []
            }
            if piece.isEmpty, first == dot {
                escape(first, to: &piece)
            } else {
                piece += unit
            }
        }
        return pieces + [piece]
    }

    private static func escape(_ byte: UInt8, to encoded: inout [UInt8]) {
        encoded += [percent, digit(byte >> 4), digit(byte & 15)]
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static let dot = UInt8(ascii: ".")
    private static let percent = UInt8(ascii: "%")
}

extension FileName {
    /// The path of a name's file in a folder.
    static func path(of name: String, in directory: DurableDirectory) throws(StorageError) -> RelativePath {
        let usual = FileName(name.utf8)
        guard usual.dependsOnRoom else { return usual.path }
        return try usual.fitting(directory, or: FileName(name.utf8, for: .small)) {
            (try? directory.exists($0.path)) == true
        }.path
    }

    /// The spelling itself, or the small one if the file system has no room for another, or if only that is in the
    /// folder, which was copied from such a file system then.
    func fitting(
        _ directory: DurableDirectory, or small: FileName, _ exists: (FileName) -> Bool
    ) throws(StorageError) -> FileName {
        guard try Room.fitting(directory.longestName) == .usual else { return small }
        return exists(small) && !exists(self) ? small : self
    }

    var path: RelativePath { RelativePath(pieces: entries) }

    /// The suffix of a parent folder.
    static let folderMark = UInt8(ascii: "~")

    /// The pieces as file and folder names.
    var entries: [[UInt8]] { pieces.dropLast().map { $0 + [Self.folderMark] } + pieces.suffix(1) }
}
