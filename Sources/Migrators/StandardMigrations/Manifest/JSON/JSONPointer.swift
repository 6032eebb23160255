internal import JSON

/// A place in a JSON value (RFC 6901): `/profile/name`, `/list/0`; in what is written, `-` is the end of a list.
struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
    let tokens: [String]

    init(tokens: [String]) { self.tokens = tokens }

    /// Reads a pointer; `nil` if the text is none.
    init?(_ text: String) {
        guard !text.isEmpty else {
            tokens = []
            return
        }
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        var tokens: [String] = []
        for piece in text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst() {
            guard let token = Self.unescaped(piece) else { return nil }
            tokens.append(token)
        }
        self.tokens = tokens
    }

    /// Whether the other one is this place or one inside of it.
    func holds(_ other: JSONPointer) -> Bool {
        other.tokens.count >= tokens.count && zip(tokens, other.tokens).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }

    var parent: JSONPointer { JSONPointer(tokens: tokens.dropLast()) }

    func appending(_ token: String) -> JSONPointer { JSONPointer(tokens: tokens + [token]) }

    /// The pointer as it is written.
    var description: String {
        tokens.map { token in
            "/"
                + token.unicodeScalars.map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) }.joined()
        }.joined()
    }

    /// The element of a list that a token means.
    static func index(_ token: String, count: Int) -> Int? {
        guard token == "0" || token.utf8.first != UInt8(ascii: "0"), token.utf8.allSatisfy({ 48...57 ~= $0 }),
            let index = Int(token), index < count
        else { return nil }
        return index
    }

    private static func unescaped(_ piece: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = piece[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "~") else {
                bytes.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "0"): bytes.append(UInt8(ascii: "~"))
            case UInt8(ascii: "1"): bytes.append(UInt8(ascii: "/"))
            default: return nil
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
