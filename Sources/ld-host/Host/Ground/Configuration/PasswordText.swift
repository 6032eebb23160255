/// Finds passwords in the text of settings, which readers of the configuration and of messages see.
package enum PasswordText {
    /// Whether a text has a URI with a password, or a word such as `password=...`.
    package static func isIn(_ text: String) -> Bool {
        uris(in: text).contains { hasPassword(uri: $0.rest, $0.scheme) } || hasAssignment(text)
    }

    /// Whether a password is assigned in a text, with or without spaces around the equals sign. No regular expression:
    /// each start of a program checks its settings, and compiling one takes a millisecond.
    private static func hasAssignment(_ text: String) -> Bool {
        text.indices.contains { equals in
            guard text[equals] == "=" else { return false }
            let before = text[..<equals].reversed().drop(while: \.isWhitespace)
            let name = String(before.prefix { $0.isLetter || $0.isNumber || $0 == "_" }.reversed())
            let value = text[text.index(after: equals)...].drop(while: \.isWhitespace)
            return ["password", "sslpassword"].contains(name.lowercased()) && !value.isEmpty && value.first != "&"
        }
    }

    /// The words before each `://` of a text, and the parts that follow.
    private static func uris(in text: String) -> [(scheme: String, rest: Substring)] {
        text.ranges(of: "://").map {
            let scheme = String(text[..<$0.lowerBound].reversed().prefix(while: \.isLetter).reversed())
            return (scheme.lowercased(), text[$0.upperBound...].prefix { !$0.isWhitespace && $0 != "\"" })
        }
    }

    /// The schemes of NATS, by which a name alone is a token.
    private static let schemesOfTokens = ["nats", "tls", "ws", "wss"]

    private static func hasPassword(uri: Substring, _ scheme: String) -> Bool {
        let authority = uri.prefix { !"/?#".contains($0) }
        if schemesOfTokens.contains(scheme), let at = authority.lastIndex(of: "@"), at > authority.startIndex {
            return true
        }
        if let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":"),
            authority.index(after: colon) < at
        {
            return true
        }
        guard let query = uri.firstIndex(of: "?") else { return false }
        return uri[uri.index(after: query)...].split(whereSeparator: { "&;#".contains($0) }).contains(where: isPassword)
    }

    /// Whether a text is the name of a password and the password, with an equals sign between them.
    private static func isPassword(_ item: Substring) -> Bool {
        guard let equals = item.firstIndex(of: "="), item.index(after: equals) < item.endIndex else { return false }
        return names.contains(decoded(item[..<equals]).lowercased())
    }

    /// A text without the escapes of a URI.
    private static func decoded(_ text: Substring) -> String {
        var (bytes, rest) = ([UInt8](), text.utf8[...])
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let names = ["password", "sslpassword", "passwd", "pwd"]

    /// Whether a setting of this name with this text is a secret itself, and not the address of one in the keychain.
    static func isIn(_ text: String, named name: String) -> Bool {
        (names + ["passphrase", "secret", "token"]).contains(name.lowercased()) && !text.hasPrefix("keychain:")
    }
}

extension JSONValue {
    /// The value as output shows it: without the passwords that somebody has written into a file.
    ///
    /// - Parameter name: The name of the setting, or of the member of an object.
    package func withoutPasswords(named name: String = "") -> JSONValue {
        switch self {
        case .string(let text) where PasswordText.isIn(text) || PasswordText.isIn(text, named: name):
            .string("(contains a password, which is not shown)")
        case .array(let elements): .array(elements.map { $0.withoutPasswords(named: name) })
        case .object(let members):
            .object(
                Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0.value.withoutPasswords(named: $0.key)) }))
        default: self
        }
    }
}
