extension JSON {
    /// The byte order mark of UTF-8, which JSON5 may begin with.
    package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The only value in a text; `nil` if there is none.
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
