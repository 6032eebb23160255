extension JSONParser {
    /// Where the value at a place begins in a text that has been read, or the name of the member; of a place that is
    /// not there, the nearest value around it.
    static func offset(of pointer: JSONPointer, isName: Bool, in bytes: [UInt8]) -> Int {
        var parser = JSONParser(bytes)
        return (try? parser.seek(pointer.tokens[...], isName)) ?? 0
    }

    private mutating func seek(_ tokens: ArraySlice<String>, _ isName: Bool) throws(JSONFault) -> Int {
        skipSpace()
        let start = position
        guard let token = tokens.first, let isObject = opens() else { return start }
        let end: Unicode.Scalar = isObject ? "}" : "]"
        var index = 0
        skipSpace()
        while !take(end) {
            if index > 0 { _ = take(",") }
            skipSpace()
            let first = position
            let isFound = isObject ? try name().utf8.elementsEqual(token.utf8) : token == "\(index)"
            if isFound { return isName && tokens.count == 1 ? first : try seek(tokens.dropFirst(), isName) }
            _ = try value()
            skipSpace()
            index += 1
        }
        return start
    }

    /// Whether an object begins here, and not a list; `nil` if neither does.
    private mutating func opens() -> Bool? { take("{") ? true : take("[") ? false : nil }

    /// The name of a member, and what follows it up to the value.
    private mutating func name() throws(JSONFault) -> String {
        let name = try string()
        skipSpace()
        _ = take(":")
        skipSpace()
        return name
    }
}
