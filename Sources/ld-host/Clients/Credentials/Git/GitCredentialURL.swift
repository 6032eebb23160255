internal import LocalDataAPI
internal import LocalDataHost

/// A URL taken apart as git does it (git-credential(1), `url`): `%XX` in user name, password, host and path is decoded,
/// slashes around the path are dropped.
struct GitCredentialURL {
    /// The parts that the URL has; the host always, even if it is empty.
    let fields: [GitCredentialRequest.Field: SecretSlice]

    /// Fails if there is no protocol, or if a part would have a newline or NUL, with which it could pass for another
    /// request.
    init?(_ url: SecretSlice) {
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")), colon > url.startIndex,
            url[colon..<url.endIndex].prefix(3) == "://"
        else { return nil }
        let rest = url[(colon + 3)..<url.endIndex]
        let hostEnd = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
        let authority = rest[rest.startIndex..<hostEnd]
        var parts: [GitCredentialRequest.Field: SecretSlice] = [.protocol: url[url.startIndex..<colon]]
        var host = authority
        if let at = authority.firstIndex(of: UInt8(ascii: "@")) {
            let user = authority[authority.startIndex..<at]
            let nameEnd = user.firstIndex(of: UInt8(ascii: ":")) ?? at
            parts[.username] = Self.decoded(user[user.startIndex..<nameEnd])
            if nameEnd < at { parts[.password] = Self.decoded(user[(nameEnd + 1)..<at]) }
            host = authority[(at + 1)..<hostEnd]
        }
        parts[.host] = Self.decoded(host)
        var path = rest[hostEnd..<rest.endIndex]
        while path.first == UInt8(ascii: "/") { path = path[(path.startIndex + 1)..<path.endIndex] }
        if !path.isEmpty {
            path = Self.decoded(path)
            while path.count > 1, path.last == UInt8(ascii: "/") { path = path[path.startIndex..<(path.endIndex - 1)] }
            parts[.path] = path
        }
        guard parts.values.allSatisfy({ !$0.contains(UInt8(ascii: "\n")) && !$0.contains(0) }) else { return nil }
        fields = parts
    }

    /// The bytes with each `%XX` decoded; a `%` that starts no such escape stays.
    private static func decoded(_ text: SecretSlice) -> SecretSlice {
        let buffer = SecretBuffer()
        var index = text.startIndex
        while index < text.endIndex {
            var byte = text[index]
            if byte == UInt8(ascii: "%"), index + 2 < text.endIndex, let high = digit(text[index + 1]),
                let low = digit(text[index + 2])
            {
                byte = high << 4 | low
                index += 2
            }
            buffer.append(contentsOf: CollectionOfOne(byte))
            index += 1
        }
        return buffer.slice
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
