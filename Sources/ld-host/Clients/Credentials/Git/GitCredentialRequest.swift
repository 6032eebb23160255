package import LocalDataAPI
package import LocalDataHost

/// The input of a credential helper from git (git-credential(1), "INPUT/OUTPUT FORMAT"): lines
/// `key=value`, to an empty line or the end.
///
/// Values are any bytes but newline and NUL; one carriage return at a line's end belongs to the line end. Of a key that
/// comes twice the last value counts. Keys that mean nothing here are skipped, however long their values are: a server
/// chooses some of them (`wwwauth[]`). Memory holds one line and the values of the keys that matter.
package struct GitCredentialRequest: Sendable {
    /// A key that means something to a helper.
    package enum Field: String, CaseIterable, Sendable {
        case `protocol`, host, path, username, password
        case expiry = "password_expiry_utc"
        case refreshToken = "oauth_refresh_token"
        case authType = "authtype"
        case credential, ephemeral
    }

    /// The most bytes of a line whose key matters.
    package static let longestLine = 64 << 10

    /// The values by their keys.
    package private(set) var fields: [Field: SecretSlice] = [:]
    /// Whether the caller understands `authtype` and `credential`.
    package private(set) var takesAuthType = false

    package subscript(field: Field) -> SecretSlice? { fields[field] }

    /// Reads a request.
    ///
    /// - Throws: `deserializationFailed` with the line's number, never its text: a line without `=` or with a NUL, a
    ///   `url` that is none; `valueTooLarge` for a line that is too long and whose key matters; what `source` throws.
    package init(from source: SecretBuffer.Source) throws(StorageError) {
        var line = SecretBuffer()
        var number = 1
        var isSkipped = false
        while true {
            let piece = SecretBuffer()
            guard try piece.append(upTo: 16 << 10, from: source) > 0 else { break }
            var rest = piece.slice
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                if !isSkipped {
                    line.append(contentsOf: rest[rest.startIndex..<end])
                    guard try take(line: line.slice, number) else { return }
                }
                line = SecretBuffer()
                isSkipped = false
                number += 1
                rest = rest[(end + 1)..<rest.endIndex]
            }
            guard !isSkipped else { continue }
            line.append(contentsOf: rest)
            // One more than the most: a carriage return may belong to the line end.
            if line.count > Self.longestLine + 1 {
                try Self.requireSkippable(line.slice, number)
                line = SecretBuffer()
                isSkipped = true
            }
        }
        if line.count > 0 { _ = try take(line: line.slice, number) }
    }

    /// Takes a line; `false` if it is the empty one that ends the request.
    private mutating func take(line full: SecretSlice, _ number: Int) throws(StorageError) -> Bool {
        var line = full
        if line.last == UInt8(ascii: "\r") { line = line[line.startIndex..<line.endIndex - 1] }
        guard !line.isEmpty else { return false }
        guard line.count <= Self.longestLine else {
            try Self.requireSkippable(line, number)
            return true
        }
        guard !line.contains(0) else { throw Self.malformed(number, "has a NUL byte") }
        guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else {
            throw Self.malformed(number, "has no '='")
        }
        let value = line[(equals + 1)..<line.endIndex]
        let key = line[line.startIndex..<equals].text ?? ""
        switch key {
        case Self.capability:
            // An empty value clears the list.
            takesAuthType = value.isEmpty ? false : takesAuthType || value == "authtype"
        case Self.url:
            guard let url = GitCredentialURL(value) else {
                throw Self.malformed(number, "has a URL without a protocol, or with a newline or NUL in it")
            }
            fields = url.fields
        default:
            if let field = Field(rawValue: key) { fields[field] = value }
        }
        return true
    }

    private static func malformed(_ number: Int, _ what: String) -> StorageError {
        StorageError(
            .deserializationFailed, "line \(number) of the request \(what)",
            hint: "a request is lines key=value; see git-credential(1)")
    }

    private static let capability = "capability[]"
    private static let url = "url"

    /// Requires that a line which is too long has a key that means nothing here.
    private static func requireSkippable(_ line: SecretSlice, _ number: Int) throws(StorageError) {
        let start = line[line.startIndex..<(line.startIndex + longestLine)]
        guard let equals = start.firstIndex(of: UInt8(ascii: "=")) else { throw malformed(number, "has no '='") }
        let key = start[start.startIndex..<equals].text ?? ""
        guard key == capability || key == url || Field(rawValue: key) != nil else { return }
        throw StorageError(
            .valueTooLarge, "line \(number) of the request, '\(key)', has more than \(longestLine) bytes",
            hint: "a password or URL of that size is not stored")
    }
}

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
