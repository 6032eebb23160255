/// A JSON value that loses nothing: numbers keep the text that they were written with, members their order, and each
/// value its place in the text that it was read from.
package struct JSON: Sendable {
    /// What a value is.
    package enum Content: Sendable {
        case null
        case bool(Bool)
        /// The text of a number, as the grammar has it.
        case number(String)
        case string(String)
        case array([JSON])
        case object(JSONObject)
    }

    package var content: Content
    /// The bytes of the value in its text, with its brackets or quotes; empty if it comes from no text.
    package internal(set) var range: Range<Int>
    /// The offset of the comma behind the value, if there is one.
    package internal(set) var comma: Int?

    /// A value that comes from no text.
    package init(_ content: Content) { self.init(content, 0..<0) }

    init(_ content: Content, _ range: Range<Int>) {
        self.content = content
        self.range = range
    }

    package static var null: JSON { JSON(.null) }
    package static func bool(_ value: Bool) -> JSON { JSON(.bool(value)) }
    package static func number(_ text: String) -> JSON { JSON(.number(text)) }
    package static func string(_ text: String) -> JSON { JSON(.string(text)) }
    package static func array(_ elements: [JSON]) -> JSON { JSON(.array(elements)) }
    package static func object(_ object: JSONObject) -> JSON { JSON(.object(object)) }

    /// What the value is, for messages, which never say the value: `a string`, `an object`.
    package var kind: String {
        switch content {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSON: Equatable {
    /// Texts are compared byte for byte, so that two spellings of one character are two texts. Where a value was read
    /// does not count.
    package static func == (left: JSON, right: JSON) -> Bool {
        switch (left.content, right.content) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)), (.string(let left), .string(let right)):
            left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

extension JSON {
    /// The byte order mark of UTF-8, which JSON5 may begin with.
    package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The only value in a text; `nil` if absent.
    ///
    /// Two members of one name are a fault: in JSON5, whose bytes have to be UTF-8, also two spellings of one.
    ///
    /// - Parameter deepest: How many values may be nested, which also bounds the stack.
    package static func read(_ bytes: [UInt8], deepest: Int, isJSON5: Bool = false) throws(JSONFault) -> JSON? {
        let start = isJSON5 && bytes.starts(with: byteOrderMark) ? byteOrderMark.count : 0
        var cursor = JSONCursor(bytes, from: start, isJSON5: isJSON5)
        try cursor.skipSpace()
        guard cursor.current != nil else { return nil }
        let value = try cursor.value(deepest: deepest)
        try cursor.end()
        return value
    }

    /// Whether a text is a number, as JSON writes it.
    package static func isNumber(_ text: String) -> Bool {
        var cursor = JSONCursor(Array(text.utf8))
        return (try? cursor.skipNumber()) != nil && cursor.current == nil
    }
}

extension JSONCursor where Bytes == [UInt8] {
    fileprivate mutating func value(deepest: Int) throws(JSONFault) -> JSON {
        let start = position
        let content: JSON.Content
        if var level = enter(object: true) ?? enter(object: false) {
            guard deepest > 0 else { throw fault(.depth, at: start) }
            content =
                level.isObject
                ? .object(JSONObject(members: try members(in: &level, deepest - 1)))
                : .array(try elements(in: &level, deepest - 1))
        } else if startsString {
            content = .string(try text())
        } else if Self.startsNumber(current, isJSON5) {
            try skipNumber()
            content = .number(String(decoding: bytes[start..<position], as: UTF8.self))
        } else {
            content = try word()
        }
        return JSON(content, start..<position)
    }

    private mutating func word() throws(JSONFault) -> JSON.Content {
        if take(word: "true") { return .bool(true) }
        if take(word: "false") { return .bool(false) }
        guard take(word: "null") else { throw noValue }
        return .null
    }

    private mutating func elements(in level: inout Level, _ deepest: Int) throws(JSONFault) -> [JSON] {
        var elements: [JSON] = []
        while try hasNext(in: &level) {
            if let comma = level.comma { elements[elements.count - 1].comma = comma }
            guard current != nil || !isJSON5 else { throw fault(.element) }
            elements.append(try value(deepest: deepest))
        }
        if let comma = level.comma { elements[elements.count - 1].comma = comma }
        return elements
    }

    private mutating func members(
        in level: inout Level, _ deepest: Int
    ) throws(JSONFault) -> [JSONObject.Member] {
        var members: [JSONObject.Member] = []
        var names: [String: Int] = [:]
        var bytes: [[UInt8]: Int] = [:]
        while try hasNext(in: &level) {
            if let comma = level.comma { members[members.count - 1].value.comma = comma }
            let start = position
            let name = try name()
            let first =
                isJSON5
                ? names.updateValue(start, forKey: name) : bytes.updateValue(start, forKey: Array(name.utf8))
            if let first {
                var fault = fault(.newName, at: start)
                fault.repeated = (name, first)
                throw fault
            }
            let range = start..<position
            try skipColon()
            members.append(JSONObject.Member(name: name, range, value: try value(deepest: deepest)))
        }
        if let comma = level.comma { members[members.count - 1].value.comma = comma }
        return members
    }

    private mutating func name() throws(JSONFault) -> String {
        if startsString {
            do throws(JSONFault) { return try text() } catch {
                var fault = error
                fault.isInName = true
                throw fault
            }
        }
        guard isJSON5 else { throw fault(.name) }
        let start = position
        try skipIdentifier()
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private var startsString: Bool { isAt("\"") || isJSON5 && isAt("'") }

    private mutating func text() throws(JSONFault) -> String {
        let start = position
        var text: [UInt8] = []
        try string { text.append($0) }
        guard let text = String(validating: text, as: UTF8.self) else { throw fault(.encoding, at: start) }
        return text
    }
}

extension JSON {
    /// The value as JSON without white space, members in their order, and numbers as they were written.
    package var text: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch content {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let text): bytes += text.utf8
        case .string(let text): Self.write(text, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 { writeCharacter(byte) { bytes.append($0) } }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Hands out a byte of a text as a string of JSON has it.
    package static func writeCharacter(_ byte: UInt8, _ append: (UInt8) -> Void) {
        func escape(_ text: String) { for byte in text.utf8 { append(byte) } }
        switch byte {
        case UInt8(ascii: "\""): escape("\\\"")
        case UInt8(ascii: "\\"): escape("\\\\")
        case 0x0A: escape("\\n")
        case 0x0D: escape("\\r")
        case 0x09: escape("\\t")
        case 0..<0x20: escape("\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))")
        default: append(byte)
        }
    }
}
