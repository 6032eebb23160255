/// The spelling of a name in the file system.
///
/// `a-z`, `0-9`, `.`, `_` and `-` stay as they are; every other byte of the UTF-8 is written `%XX` in upper-case hex.
/// That covers upper case (some file systems ignore case), everything outside of ASCII (some normalize it), `/`, and
/// `~`. A `.` at the start is written `%2E`, so that nothing is hidden, nor `..`; one at the end likewise, since FAT
/// drops it.
///
/// A spelling of more than 255 bytes, the limit for a file name, is split into pieces of at most 240 bytes, never
/// inside of a `%XX`. All but the last are names of folders, followed by `~`. No piece starts with a `.`. So every name
/// has exactly one spelling, and no two names share one.
struct FileName {
    private static let longest = 255
    private static let longestPiece = 240

    /// The name's folders from the outermost, and its file.
    let pieces: [[UInt8]]

    /// Spells a name.
    init(_ name: some Collection<UInt8>) { self.init(encoded: Self.encode(name, isKept: Self.isKept)) }

    /// Splits an encoded name.
    init(encoded: [UInt8]) {
        pieces = encoded.count <= Self.longest ? [encoded] : Self.split(encoded)
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
            FileName(bytes).pieces == pieces
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

    private static func split(_ encoded: [UInt8]) -> [[UInt8]] {
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
    /// The suffix of a parent folder.
    static let folderMark = UInt8(ascii: "~")

    /// The pieces as file and folder names.
    var entries: [[UInt8]] { pieces.dropLast().map { $0 + [Self.folderMark] } + pieces.suffix(1) }
}
