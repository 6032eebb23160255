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
