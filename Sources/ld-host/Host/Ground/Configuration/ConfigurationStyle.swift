internal import JSON
internal import LocalDataAPI

/// How a text is laid out, so that what an edit adds looks like what is there.
struct ConfigurationStyle {
    /// The line break of the text's first line.
    let newline: String
    /// One level of indentation, taken from the first member of the outermost object.
    let indent: String
    /// Whether keys that could do without quotes have them, as in plain JSON.
    let quotesKeys: Bool

    init(of document: ConfigurationDocument) {
        let end = document.bytes.firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        switch end {
        case let end? where document.bytes[end] == UInt8(ascii: "\n"): newline = "\n"
        case let end? where document.bytes[end...].starts(with: "\r\n".utf8): newline = "\r\n"
        case .some: newline = "\r"
        case nil: newline = "\n"
        }
        let first = document.root?.items.first?.nameRange.lowerBound
        let found = first.flatMap { document.indentation(before: $0) } ?? ""
        indent = found.isEmpty ? "  " : found
        var quoted = 0
        var plain = 0
        document.root.map { Self.count($0, in: document.bytes, &quoted, &plain) }
        quotesKeys = quoted > 0 && plain == 0
    }

    func key(_ key: String) throws(StorageError) -> String {
        let isWord = key.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"): true
            default: false
            }
        }
        let startsWithDigit = key.utf8.first.map { $0 <= UInt8(ascii: "9") && $0 != UInt8(ascii: "$") } ?? true
        if isWord, !startsWithDigit, !quotesKeys { return key }
        return try JSONValue.string(key).serialized()
    }

    /// The text of a value whose first line stands on a line with this indentation; in one line if `isInline`.
    func text(
        of value: JSONValue, indentation: String, isInline: Bool
    ) throws(StorageError) -> String {
        var items: [String] = []
        switch value {
        case .object(let members):
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                let text = try text(of: member, indentation: indentation + indent, isInline: isInline)
                items.append("\(try key(name)): \(text)")
            }
            return block(items, "{", "}", padding: " ", indentation, isInline: isInline || items.isEmpty)
        case .array(let elements):
            for element in elements {
                items.append(try text(of: element, indentation: indentation + indent, isInline: isInline))
            }
            let isShort = !items.contains { $0.contains(where: \.isNewline) } && items.reduce(0) { $0 + $1.count } < 80
            return block(items, "[", "]", padding: "", indentation, isInline: isInline || isShort)
        default:
            return try value.serialized()
        }
    }

    private func block(
        _ items: [String], _ open: String, _ close: String, padding: String, _ indentation: String, isInline: Bool
    ) -> String {
        if items.isEmpty { return open + close }
        if isInline { return open + padding + items.joined(separator: ", ") + padding + close }
        let lead = newline + indentation
        return open + items.map { lead + indent + $0 }.joined(separator: ",") + lead + close
    }

    private static func count(_ node: JSON, in bytes: [UInt8], _ quoted: inout Int, _ plain: inout Int) {
        for member in node.items {
            if node.isObject {
                let first = bytes[member.nameRange.lowerBound]
                if first == UInt8(ascii: "\"") { quoted += 1 } else { plain += 1 }
            }
            count(member.value, in: bytes, &quoted, &plain)
        }
    }
}
