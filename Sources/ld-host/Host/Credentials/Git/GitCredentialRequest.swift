package import LocalDataAPI

/// What git tells a credential helper on its standard input (git-credential(1), "INPUT/OUTPUT FORMAT"): lines
/// `key=value`, to an empty line or the end.
///
/// Values are any bytes but newline and NUL; one carriage return at a line's end belongs to the line end. Of a key that
/// comes twice the last value counts. Keys that mean nothing here are passed over.
package struct GitCredentialRequest: Sendable {
    /// A key that means something to a helper.
    package enum Field: String, CaseIterable, Sendable {
        case `protocol`, host, path, username, password
        case expiry = "password_expiry_utc"
        case refreshToken = "oauth_refresh_token"
        case authType = "authtype"
        case credential, ephemeral
    }

    /// The most bytes of a line.
    package static let longestLine = 64 << 10
    /// The most bytes of a request.
    package static let longestRequest = 1 << 20

    /// The values by their keys.
    package private(set) var fields: [Field: SecretSlice] = [:]
    /// Whether the caller understands `authtype` and `credential`.
    package private(set) var takesAuthType = false

    package subscript(field: Field) -> SecretSlice? { fields[field] }

    /// Reads a request.
    ///
    /// - Throws: `deserializationFailed` with the line's number, never its text: a line without `=` or with a NUL, a
    ///   `url` that is none; `valueTooLarge` for a line or a request that is too long; what `source` throws.
    package init(from source: SecretBuffer.Source) throws(StorageError) {
        let buffer = SecretBuffer()
        var start = 0
        var number = 1
        var scanned = 0
        var isAtEnd = false
        while !isAtEnd {
            isAtEnd = try buffer.append(upTo: 16 << 10, from: source) == 0
            while let end = buffer.slice[scanned..<buffer.count].firstIndex(of: UInt8(ascii: "\n")) {
                guard try take(line: buffer.slice[start..<end], number) else { return }
                number += 1
                start = end + 1
                scanned = start
            }
            scanned = buffer.count
            guard scanned - start <= Self.longestLine else { throw Self.tooLong(number) }
            guard buffer.count <= Self.longestRequest else {
                throw StorageError(
                    .valueTooLarge, "the request has more than \(Self.longestRequest) bytes",
                    hint: "see git-credential(1) for what a helper is sent")
            }
        }
        if start < buffer.count { _ = try take(line: buffer.slice[start..<buffer.count], number) }
    }

    /// Takes a line; `false` if it is the empty one that ends the request.
    private mutating func take(line full: SecretSlice, _ number: Int) throws(StorageError) -> Bool {
        var line = full
        if line.last == UInt8(ascii: "\r") { line = line[line.startIndex..<line.endIndex - 1] }
        guard !line.isEmpty else { return false }
        guard line.count <= Self.longestLine else { throw Self.tooLong(number) }
        guard !line.contains(0) else { throw Self.malformed(number, "has a NUL byte") }
        guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else {
            throw Self.malformed(number, "has no '='")
        }
        let value = line[(equals + 1)..<line.endIndex]
        let key = line[line.startIndex..<equals].text ?? ""
        switch key {
        case "capability[]":
            // An empty value clears the list.
            takesAuthType = value.isEmpty ? false : takesAuthType || value == "authtype"
        case "url":
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

    private static func tooLong(_ number: Int) -> StorageError {
        StorageError(
            .valueTooLarge, "line \(number) of the request has more than \(longestLine) bytes",
            hint: "git sends no such line; see git-credential(1)")
    }
}
