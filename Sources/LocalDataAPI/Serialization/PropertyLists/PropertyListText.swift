#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A textual property list in UTF-8. Of XML it can compute the nesting without a decoder.
struct PropertyListText {
    /// The text, including its UTF-8 byte order mark if it has one.
    let utf8: Data

    private static let space = Array(" \t\n\r".utf8)
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Takes the text of a list, which may begin with a byte order mark. Without one, the decoder reads only UTF-8.
    init(_ data: Data) throws(PropertyListFault) {
        let marks: [(bytes: [UInt8], encoding: String.Encoding)] = [
            ([0, 0, 0xFE, 0xFF], .utf32BigEndian), ([0xFF, 0xFE, 0, 0], .utf32LittleEndian),
            ([0xFE, 0xFF], .utf16BigEndian), ([0xFF, 0xFE], .utf16LittleEndian),
        ]
        guard let (bytes, encoding) = marks.first(where: { data.starts(with: $0.bytes) }) else {
            utf8 = data
            return
        }
        guard let text = String(bytes: data.dropFirst(bytes.count), encoding: encoding) else { throw .damaged }
        utf8 = Data(Self.mark + text.utf8)
    }

    /// Refuses XML that nests deeper than `PropertyListFault.deepest`. The decoder reports malformed XML: it stops
    /// there, and up to there both see the same tags.
    func checkNesting() throws(PropertyListFault) {
        var bytes = ArraySlice(utf8)
        if bytes.starts(with: Self.mark) { bytes = bytes.dropFirst(Self.mark.count) }
        guard bytes.first(where: { !Self.space.contains($0) }) == UInt8(ascii: "<") else { return }
        var depth = 0
        // The list itself does not count as a value.
        var deepest = PropertyListFault.deepest
        while let tag = bytes.firstIndex(of: UInt8(ascii: "<")) {
            bytes = bytes[(tag + 1)...]
            if Self.skip("!--", "-->", &bytes) || Self.skip("![CDATA[", "]]>", &bytes) { continue }
            guard let end = bytes.firstIndex(of: UInt8(ascii: ">")) else { return }
            let content = bytes[..<end]
            bytes = bytes[(end + 1)...]
            if content.first == UInt8(ascii: "?") {
                // Decoders disagree on where an instruction that contains a tag ends.
                guard content.count > 1, content.last == UInt8(ascii: "?"), !content.contains(UInt8(ascii: "<")) else {
                    throw .damaged
                }
            } else if Self.isContainer(content.dropFirst()), content.first == UInt8(ascii: "/") {
                depth -= 1
            } else if Self.isContainer(content), content.last != UInt8(ascii: "/") {
                if depth == 0, content.starts(with: "plist".utf8) { deepest = PropertyListFault.deepest + 1 }
                depth += 1
                guard depth <= deepest else { throw .tooDeep(PropertyListFault.deepest) }
            }
        }
    }

    /// Skips what begins here to behind its end, or to the end of the bytes if it does not end.
    private static func skip(_ start: String, _ end: String, _ bytes: inout ArraySlice<UInt8>) -> Bool {
        guard bytes.starts(with: start.utf8) else { return false }
        bytes = bytes.dropFirst(start.utf8.count)
        while !bytes.isEmpty, !bytes.starts(with: end.utf8) {
            let next = bytes.dropFirst().firstIndex { $0 == end.utf8.first }
            bytes = next.map { bytes[$0...] } ?? []
        }
        bytes = bytes.dropFirst(end.utf8.count)
        return true
    }

    /// The decoder compares only the beginning of a tag's name.
    private static func isContainer(_ tag: ArraySlice<UInt8>) -> Bool {
        tag.starts(with: "array".utf8) || tag.starts(with: "dict".utf8) || tag.starts(with: "plist".utf8)
    }
}
