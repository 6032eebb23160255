internal import Glibc
internal import LocalDataAPI

/// Git's credentials in the keychain: what a credential helper does (gitcredentials(7), "CUSTOM HELPERS").
///
/// The service of a credential is `git:PROTOCOL://HOST` or, if git is told to use the path
/// (`credential.useHttpPath`), `git:PROTOCOL://HOST/PATH`; its name is the user's. What is no text in them, and what
/// would make two of them one, is escaped as ``CredentialName`` does it: `%` and control characters, in the host `/`, in
/// the protocol `:` too. A user without a name is `%`. The value is a ``GitCredentialEntry``.
///
/// A request with a path is answered from what was stored with that path only, and one without from what was stored
/// without. Reading and then removing is no transaction: of a credential that another process stores in between, the
/// removal may win, and git asks again.
package struct GitCredentialStore: Sendable {
    private typealias Found = (name: String, entry: GitCredentialEntry)

    private let router: StorageRouter

    /// Keeps credentials where `router` has the keychain.
    package init(_ router: StorageRouter) { self.router = router }

    /// The answer to a request as lines, or `nil` if there is none.
    ///
    /// Of several users' credentials it is the one that was stored last, or the first by the bytes of its name where the
    /// store does not tell times. One whose password has expired is removed and not given; if it has a refresh token,
    /// then it stays, and the token is given without the password, as helpers that renew passwords need it.
    package func get(_ request: GitCredentialRequest) async throws -> SecretBuffer? {
        let service = try Self.service(of: request)
        for name in try await names(request, in: service) {
            guard let entry = try await entry(name, in: service) else { continue }
            let isExpired = entry.isExpired(at: Self.now)
            if isExpired, entry[.refreshToken] == nil {
                try await router.remove(Self.key(service, name))
                continue
            }
            if let answer = Self.answer(entry, of: CredentialName.decode(name), isExpired, to: request) {
                return answer
            }
        }
        return nil
    }

    /// Keeps what a request holds, in place of what the same user had there. Without a password or credential, or if it
    /// has expired, there is nothing to keep.
    package func store(_ request: GitCredentialRequest) async throws {
        let service = try Self.service(of: request)
        guard let entry = GitCredentialEntry(request), !entry.isExpired(at: Self.now) else { return }
        let name = CredentialName.encode(request[.username] ?? SecretBuffer().slice)
        try await router.setSecret(entry.value.slice, for: Self.key(service, name))
    }

    /// Removes what a request matches: of that user, or of every user of the place if it names none; only what has the
    /// request's password and credential, if it gives them.
    package func erase(_ request: GitCredentialRequest) async throws {
        let service = try Self.service(of: request)
        for name in try await names(request, in: service, isOrdered: false) {
            guard let entry = try await entry(name, in: service), entry.matches(request) else { continue }
            try await router.remove(Self.key(service, name))
        }
    }

    private static func answer(
        _ entry: GitCredentialEntry, of user: [UInt8], _ isExpired: Bool, to request: GitCredentialRequest
    ) -> SecretBuffer? {
        let hasCredential = entry[.credential] != nil && entry[.authType] != nil
        guard entry[.password] != nil || (hasCredential && request.takesAuthType) else { return nil }
        // Others may have written what would be more than a line.
        guard !user.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\n") }), !entry.hasNUL else { return nil }
        let answer = SecretBuffer()
        func add(_ field: GitCredentialRequest.Field, _ value: some Collection<UInt8>) {
            answer.append("\(field.rawValue)=")
            answer.append(contentsOf: value)
            answer.append("\n")
        }
        func add(_ field: GitCredentialRequest.Field) { entry[field].map { add(field, $0) } }
        let givesCredential = hasCredential && request.takesAuthType && !isExpired
        if givesCredential { answer.append("capability[]=authtype\n") }
        if !user.isEmpty || !givesCredential { add(.username, user) }
        if givesCredential {
            add(.authType)
            add(.credential)
        } else if !isExpired {
            add(.password)
        }
        if !isExpired { add(.expiry) }
        add(.refreshToken)
        return answer
    }

    /// The names in a service that a request may mean, the best one first.
    private func names(
        _ request: GitCredentialRequest, in service: String, isOrdered: Bool = true
    ) async throws -> [String] {
        if let user = request[.username] { return [CredentialName.encode(user)] }
        let names = try await router.names(in: .keychain(service: service))
        guard isOrdered, names.count > 1 else { return names }
        var dated: [(name: String, time: Int64)] = []
        for name in names {
            dated.append((name, try await router.attributes(of: Self.key(service, name))?.modified ?? 0))
        }
        // The sort is stable.
        return dated.sorted { $0.time > $1.time }.map(\.name)
    }

    private func entry(_ name: String, in service: String) async throws -> GitCredentialEntry? {
        try await router.secret(for: Self.key(service, name), limit: GitCredentialRequest.longestRequest)
            .map { GitCredentialEntry($0) }
    }

    private static func key(_ service: String, _ name: String) -> AnyStorageKey {
        CredentialKeys.key(service, name, owner: "git")
    }

    private static func service(of request: GitCredentialRequest) throws(StorageError) -> String {
        guard let name = request[.protocol], !name.isEmpty else { throw incomplete("protocol") }
        let host = request[.host].flatMap { $0.isEmpty ? nil : $0 }
        let path = request[.path].flatMap { $0.isEmpty ? nil : $0 }
        guard host != nil || path != nil else { throw incomplete("host") }
        let place = host.map { CredentialName.encode($0, escaping: "/") } ?? ""
        let rest = path.map { "/\(CredentialName.encode($0))" } ?? ""
        return "git:\(CredentialName.encode(name, escaping: ":/"))://\(place)\(rest)"
    }

    private static func incomplete(_ what: String) -> StorageError {
        StorageError(
            .invalidAddress, "the request names no \(what)",
            hint: "a request needs protocol=, and host= or path=; see git-credential(1)")
    }

    private static var now: UInt64 { UInt64(max(0, time(nil))) }
}
