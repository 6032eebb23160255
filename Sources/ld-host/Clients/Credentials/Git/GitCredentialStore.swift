internal import Glibc
internal import LocalDataAPI
package import LocalDataHost

/// Git's credentials in the keychain: what a credential helper does (gitcredentials(7), "CUSTOM HELPERS").
///
/// The service of a credential is `git:PROTOCOL://HOST`, followed by `/PATH` if git is configured to use the path
/// (`credential.useHttpPath`). Its name is the user's. Bytes that are not text are escaped as ``CredentialName`` does
/// it, and so are characters that would make two names one: `%` and control characters, in the host `/`, in the
/// protocol `:` too. A user without a name is `%`. The value is a ``GitCredentialEntry``.
///
/// A request with a path means what was stored with that path only. One without a path means what was stored for the
/// host with any path, as for git's own helpers; `get` prefers what was stored without. So credentials stay known when
/// `credential.useHttpPath` is switched off.
///
/// Reading and then removing, as `erase` does, is no transaction: of a credential that another process stores in
/// between, the removal may win, and git asks again.
package struct GitCredentialStore: Sendable {
    /// The most bytes of a stored value.
    private static let largestValue = 1 << 20

    /// Where a request's credential may be.
    private struct Place {
        let service: String
        let name: String

        var key: AnyStorageKey { CredentialKeys.key(service, name, owner: "git") }

        /// Whether a key can be called so; if not, nothing was ever stored under it.
        var isValid: Bool {
            let address = StorageAddress(StorageNamespace(domain: "keychain", scope: service), name: name)
            return (try? address.validate()) != nil
        }
    }

    private let router: StorageRouter

    /// Keeps credentials where `router` has the keychain.
    package init(_ router: StorageRouter) { self.router = router }

    /// The answer to a request as lines, or `nil` if absent.
    ///
    /// Of several users' credentials it is the one that was stored last, or the first by the bytes of its name where
    /// the store records no times. One whose password has expired is not given, and stays: the clock may be ahead. Its
    /// refresh token is given without the password, as helpers that renew passwords need it.
    package func get(_ request: GitCredentialRequest) async throws -> SecretBuffer? {
        let service = try Self.service(of: request)
        if let answer = try await answer(request, from: places(request, in: [service])) { return answer }
        return try await answer(request, from: places(request, in: try await servicesWithPath(request, below: service)))
    }

    /// Keeps what a request holds, in place of what the same user had there. Without a password or credential, or if it
    /// has expired, there is nothing to keep.
    package func store(_ request: GitCredentialRequest) async throws {
        let service = try Self.service(of: request)
        guard let entry = GitCredentialEntry(request), !entry.isExpired(at: Self.now) else { return }
        let name = CredentialName.encode(request[.username] ?? SecretBuffer().slice)
        try await router.setSecret(entry.value.slice, for: Place(service: service, name: name).key)
    }

    /// Removes what a request matches: of that user, or of every user of the place if it names none; only what has the
    /// request's password and credential, if it gives them.
    package func erase(_ request: GitCredentialRequest) async throws {
        let service = try Self.service(of: request)
        let services = [service] + (try await servicesWithPath(request, below: service))
        for place in try await places(request, in: services, isOrdered: false) {
            guard let entry = try await entry(at: place), entry.matches(request) else { continue }
            try await router.remove(place.key)
        }
    }

    /// The answer from the first place that has one.
    private func answer(_ request: GitCredentialRequest, from places: [Place]) async throws -> SecretBuffer? {
        for place in places {
            guard let entry = try await entry(at: place) else { continue }
            let isExpired = entry.isExpired(at: Self.now)
            if isExpired, entry[.refreshToken] == nil { continue }
            if let answer = Self.answer(entry, of: CredentialName.decode(place.name), isExpired, to: request) {
                return answer
            }
        }
        return nil
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

    /// The places in some services that a request may mean, the best one first.
    private func places(
        _ request: GitCredentialRequest, in services: [String], isOrdered: Bool = true
    ) async throws -> [Place] {
        var places: [Place] = []
        for service in services {
            if let user = request[.username] {
                places.append(Place(service: service, name: CredentialName.encode(user)))
            } else if Place(service: service, name: "%").isValid {
                places += try await router.names(in: .keychain(service: service)).map {
                    Place(service: service, name: $0)
                }
            }
        }
        places = places.filter(\.isValid)
        guard isOrdered, places.count > 1 else { return places }
        var dated: [(place: Place, time: Int64)] = []
        for place in places { dated.append((place, try await router.attributes(of: place.key)?.modified ?? 0)) }
        // The sort is stable.
        return dated.sorted { $0.time > $1.time }.map(\.place)
    }

    /// The services of the same host with a path, if the request has none.
    private func servicesWithPath(_ request: GitCredentialRequest, below service: String) async throws -> [String] {
        guard request[.path]?.isEmpty != false else { return [] }
        return try await router.populatedScopes(of: "keychain").filter { $0.utf8.starts(with: "\(service)/".utf8) }
    }

    private func entry(at place: Place) async throws -> GitCredentialEntry? {
        try await router.secret(for: place.key, limit: Self.largestValue).map { GitCredentialEntry($0) }
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

extension GitCredentialRequest {
    /// When the password expires, in seconds since 1970 UTC; `nil` for never.
    var expiry: UInt64? { self[.expiry].flatMap { Self.time($0) } }

    /// Whether the `credential` is of use for so short a time that it is not to be kept; a boolean as git-config(1) has
    /// them.
    var isEphemeral: Bool {
        guard let text = self[.ephemeral]?.text?.lowercased() else { return false }
        return ["true", "yes", "on"].contains(text) || Int(text).map { $0 != 0 } ?? false
    }

    /// A time as git writes it; `nil` if it is none, which git takes for never.
    static func time(_ text: SecretSlice) -> UInt64? { text.text.flatMap { UInt64($0) }.flatMap { $0 == 0 ? nil : $0 } }
}
