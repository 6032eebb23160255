internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost

/// A credential of git's as the keychain keeps it: the password, and behind it, each on a line of its own, what git
/// passed beside it: `password_expiry_utc=...`, `oauth_refresh_token=...`, `authtype=...`, `credential=...`.
///
/// So a password alone is stored as it is, and git's own helper for libsecret writes the same. The last line has no
/// end. If the first line is empty and a `credential` follows, there is no password.
struct GitCredentialEntry {
    private typealias Field = GitCredentialRequest.Field

    /// The members that may follow the password.
    private static let attributes: [Field] = [.expiry, .refreshToken, .authType, .credential]

    private var fields: [Field: SecretSlice] = [:]

    subscript(field: GitCredentialRequest.Field) -> SecretSlice? { fields[field] }

    /// What a request wants to be kept; `nil` if it has neither a password nor an `authtype` with a `credential` that
    /// may be kept.
    init?(_ request: GitCredentialRequest) {
        fields[.password] = request[.password]
        if !request.isEphemeral, let type = request[.authType], let credential = request[.credential] {
            fields[.authType] = type
            fields[.credential] = credential
        }
        guard !fields.isEmpty else { return nil }
        if request.expiry != nil { fields[.expiry] = request[.expiry] }
        fields[.refreshToken] = request[.refreshToken]
    }

    /// Reads a stored value. Lines that mean nothing here are passed over.
    init(_ value: SecretBuffer) {
        var lines = value.slice.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        let password = lines.removeFirst()
        for line in lines {
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let key = line[line.startIndex..<equals]
            guard let field = Self.attributes.first(where: { key == $0.rawValue }) else { continue }
            fields[field] = line[(equals + 1)..<line.endIndex]
        }
        if !password.isEmpty || fields[.credential] == nil { fields[.password] = password }
    }

    /// The value that is stored.
    var value: SecretBuffer {
        let value = SecretBuffer()
        if let password = fields[.password] { value.append(contentsOf: password) }
        for field in Self.attributes {
            guard let content = fields[field] else { continue }
            value.append("\n\(field.rawValue)=")
            value.append(contentsOf: content)
        }
        return value
    }

    /// Whether the password is past its time.
    func isExpired(at now: UInt64) -> Bool {
        fields[.expiry].flatMap { GitCredentialRequest.time($0) }.map { $0 < now } ?? false
    }

    /// Whether it has a byte that git's lines cannot have.
    var hasNUL: Bool { fields.values.contains { $0.contains(0) } }

    /// Whether it is what a request rejects: where that gives a password or a credential, the same.
    func matches(_ request: GitCredentialRequest) -> Bool {
        for field in [Field.password, .credential] {
            if let given = request[field], fields[field] != given { return false }
        }
        return true
    }
}
