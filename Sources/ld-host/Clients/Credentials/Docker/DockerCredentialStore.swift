internal import JSON
package import LocalDataAPI
package import LocalDataHost

/// Docker's credentials in the keychain: what a credential helper does
/// (github.com/docker/docker-credential-helpers).
///
/// All are in the service `docker`; the name is the server's URL, escaped as ``CredentialName`` does it. The value is
/// `USERNAME:SECRET`, with the name escaped so and its `:` too.
package struct DockerCredentialStore: Sendable {
    /// The errors that clients of helpers recognize by their text.
    package enum Refusal: String, Error, Sendable {
        case notFound = "credentials not found in native keychain"
        case noServerURL = "no credentials server URL"
        case noUsername = "no credentials username"
    }

    /// The keychain's service with the credentials.
    package static let service = "docker"
    /// The most bytes of a request, and of a stored value.
    package static let largest = 1 << 20

    private let router: StorageRouter

    /// Keeps credentials where `router` has the keychain.
    package init(_ router: StorageRouter) { self.router = router }

    /// Keeps a credential in place of the server's last one.
    ///
    /// - Throws: ``Refusal`` if it lacks the server's URL or the user's name.
    package func store(_ credential: DockerCredential) async throws {
        guard !credential.serverURL.isEmpty else { throw Refusal.noServerURL }
        guard !credential.username.isEmpty else { throw Refusal.noUsername }
        let value = SecretBuffer()
        value.append(CredentialName.encode(credential.username, escaping: ":"))
        value.append(":")
        value.append(contentsOf: credential.secret)
        try await router.setSecret(value.slice, for: Self.key(CredentialName.encode(credential.serverURL)))
    }

    /// The credential for a server.
    ///
    /// - Throws: ``Refusal`` if it is absent, or if the URL is empty.
    package func get(_ serverURL: SecretSlice) async throws -> DockerCredential {
        let serverURL = serverURL.trimmed
        guard !serverURL.isEmpty else { throw Refusal.noServerURL }
        guard let (user, secret) = try await value(CredentialName.encode(serverURL)) else { throw Refusal.notFound }
        return DockerCredential(serverURL: serverURL, username: user, secret: secret)
    }

    /// Removes the credential for a server; fine if absent.
    ///
    /// - Throws: ``Refusal`` if the URL is empty.
    package func erase(_ serverURL: SecretSlice) async throws {
        let serverURL = serverURL.trimmed
        guard !serverURL.isEmpty else { throw Refusal.noServerURL }
        try await router.remove(Self.key(CredentialName.encode(serverURL)))
    }

    /// A JSON object on one line: the users' names by the servers' URLs, in the order of the URLs' bytes.
    ///
    /// - Parameter note: Takes the error of an entry that is left out, since it is damaged or not Docker's.
    package func list(noting note: (StorageError) -> Void) async throws -> SecretBuffer {
        let json = SecretBuffer()
        var separator = "{"
        for name in try await router.names(in: .keychain(service: Self.service)) {
            let user: SecretSlice
            do {
                guard let value = try await value(name) else { continue }
                user = value.user
            } catch let error as StorageError where Self.isOfOneEntry(error) {
                note(error)
                continue
            }
            json.append(separator)
            json.append(jsonString: CredentialName.decode(name))
            json.append(":")
            json.append(jsonString: user)
            separator = ","
        }
        json.append(separator == "{" ? "{}\n" : "}\n")
        return json
    }

    /// Whether an error says that one value cannot be used, as opposed to its store.
    private static func isOfOneEntry(_ error: StorageError) -> Bool {
        [.deserializationFailed, .corrupt, .cannotOpen, .valueTooLarge].contains(error.code)
    }

    private func value(_ name: String) async throws -> (user: SecretSlice, secret: SecretSlice)? {
        guard let value = try await router.secret(for: Self.key(name), limit: Self.largest)?.slice else { return nil }
        guard let colon = value.firstIndex(of: UInt8(ascii: ":")),
            let escapedUser = value[value.startIndex..<colon].text
        else {
            throw StorageError(
                .deserializationFailed, "'keychain:\(Self.service)/\(name)' is not a credential that Docker stored",
                hint: "remove it: ld-host rm 'keychain:\(Self.service)/\(name)'")
        }
        let user = SecretBuffer()
        user.append(contentsOf: CredentialName.decode(escapedUser))
        return (user.slice, value[(colon + 1)..<value.endIndex])
    }

    private static func key(_ name: String) -> AnyStorageKey { CredentialKeys.key(service, name, owner: "docker") }
}

extension SecretSlice {
    /// The bytes without white space around them.
    fileprivate var trimmed: SecretSlice {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return self[startIndex..<startIndex]
        }
        return self[first..<(last + 1)]
    }
}

extension SecretSlice: JSONBytes {}

extension JSONCursor<SecretSlice> {
    /// The text of a string, which a decoder would leave copies of in memory.
    mutating func secret() throws(JSONFault) -> SecretSlice {
        let text = SecretBuffer()
        try string { text.append(contentsOf: CollectionOfOne($0)) }
        guard text.slice.isUTF8 else { throw fault(.encoding) }
        return text.slice
    }
}

extension JSONFault {
    /// The expectation, without the text.
    var expected: String {
        switch reason {
        case .end: "the end"
        case .object: "'{'"
        case .memberEnd: "'}'"
        case .elementEnd: "']'"
        case .name, .string, .stringEnd: "'\"'"
        case .encoding: "UTF-8 in the string before it"
        case .escape: "an escape"
        case .character: "a whole character in the escape before it"
        default: reason.rawValue
        }
    }
}

extension SecretBuffer {
    /// Appends UTF-8 text as a JSON string. `<`, `>` and `&` are escaped, as in the JSON that Docker's helpers write.
    func append(jsonString text: some Collection<UInt8>) {
        append("\"")
        for byte in text {
            switch byte {
            case UInt8(ascii: "<"): append("\\u003c")
            case UInt8(ascii: ">"): append("\\u003e")
            case UInt8(ascii: "&"): append("\\u0026")
            default: JSON.writeCharacter(byte) { append(contentsOf: CollectionOfOne($0)) }
            }
        }
        append("\"")
    }
}
