internal import FoundationEssentials

/// A property list that is text, in UTF-8. If it is XML, how deep it nests can be told without a decoder.
struct PropertyListText {
    /// The text, with its mark of UTF-8 if it had a mark.
    let utf8: Data

    private static let space = Array(" \t\n\r".utf8)
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Takes the text of a list, which a mark of its encoding may begin: the decoder reads no other than UTF-8 without
    /// one.
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

    /// Refuses XML that nests deeper than `PropertyListFault.deepest`. Damage is left to the decoder, which stops at
    /// it: up to there both see the same tags.
    func checkNesting() throws(PropertyListFault) {
        var bytes = ArraySlice(utf8)
        if bytes.starts(with: Self.mark) { bytes = bytes.dropFirst(Self.mark.count) }
        guard bytes.first(where: { !Self.space.contains($0) }) == UInt8(ascii: "<") else { return }
        var depth = 0
        // The list itself is none of its values.
        var deepest = PropertyListFault.deepest
        while let tag = bytes.firstIndex(of: UInt8(ascii: "<")) {
            bytes = bytes[(tag + 1)...]
            if Self.skip("!--", "-->", &bytes) || Self.skip("![CDATA[", "]]>", &bytes) { continue }
            guard let end = bytes.firstIndex(of: UInt8(ascii: ">")) else { return }
            let content = bytes[..<end]
            bytes = bytes[(end + 1)...]
            if content.first == UInt8(ascii: "?") {
                // Where one with a tag in it ends is told differently by different decoders.
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

    /// Goes on behind the end of what begins here, if it does; to the end of the bytes if it does not end.
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

    /// The decoder looks at no more than how a tag's name begins.
    private static func isContainer(_ tag: ArraySlice<UInt8>) -> Bool {
        tag.starts(with: "array".utf8) || tag.starts(with: "dict".utf8) || tag.starts(with: "plist".utf8)
    }
}
