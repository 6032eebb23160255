internal import CPostgreSQL
internal import Glibc
internal import LocalDataPluginAPI
internal import ServerAccess

/// Connecting without telling a password to a program that only listens in a server's place.
///
/// libpq answers whatever the server asks for: to `AuthenticationCleartextPassword`, with the password. Versions before
/// 16 cannot be told to refuse that, except where the connection is bound to the password (`channel_binding=require`):
/// then libpq answers only SCRAM over TLS, and the server has to know the password, too, on this very connection.
extension ServerLink {
    /// Connects to a host. A server that does not show who runs it gets a password only in that way.
    ///
    /// - Throws: ``LinkFailure``; `permissionDenied` if a server asks for a password that it must not learn;
    ///   `StorageError` for an unusable file with the password.
    static func connected(
        _ server: PostgreSQLAddress, _ password: ServerSecret?, until deadline: Deadline
    ) throws -> OpaquePointer {
        let hasPassword = password != nil || ConnectionURI.hasPasswordInEnvironment
        switch server.proof {
        case .given: return try connected(server, with: password, until: deadline)
        case .byPassword where hasPassword:
            return try connected(server.boundToPassword, with: password, until: deadline)
        case .byPassword, .impossible:
            do {
                return try connected(server.withoutPassword, with: nil, until: deadline)
            } catch LinkFailure.lost(let loss) where loss.asksForPassword {
                guard server.proof == .byPassword else { throw StorageError.unverified(server) }
                // libpq may find one in the user's file.
                return try connected(server.boundToPassword, with: nil, until: deadline)
            }
        }
    }

    private static func connected(
        _ server: PostgreSQLAddress, with password: ServerSecret?, until deadline: Deadline
    ) throws -> OpaquePointer {
        let connection = try started(server, password)
        do {
            try finish(connection, server, until: deadline)
        } catch {
            PQfinish(connection)
            throw error
        }
        return connection
    }

    private static func started(_ server: PostgreSQLAddress, _ password: ServerSecret?) throws -> OpaquePointer {
        var words: [UnsafeMutablePointer<CChar>?] = []
        var values: [UnsafeMutablePointer<CChar>?] = []
        for (word, value) in server.parameters {
            words.append(strdup(word))
            values.append(strdup(value))
        }
        defer { for text in words + values { free(text) } }
        func start(_ password: UnsafePointer<CChar>?) throws -> OpaquePointer {
            let connection = "password".withCString { word in
                let words = words.map { UnsafePointer($0) } + [password == nil ? nil : word, nil]
                return PQconnectStartParams(words, values.map { UnsafePointer($0) } + [password, nil], 0)
            }
            guard let connection else {
                throw LinkFailure.lost(Loss(host: server.name, reason: "not enough memory for a connection"))
            }
            PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
            ld_postgresql_silence(connection)
            return connection
        }
        return try password?.with { try start($0) } ?? start(nil)
    }

    private static func finish(_ connection: OpaquePointer, _ server: PostgreSQLAddress, until deadline: Deadline)
        throws(LinkFailure)
    {
        func failure() -> LinkFailure {
            let message = ConnectionMessage(connection)
            var loss = Loss(host: server.name, reason: message.text, state: message.state)
            loss.asksForPassword = PQconnectionUsedPassword(connection) == 1
            loss.lacksProof = server.isBound
            return .lost(loss)
        }
        guard PQstatus(connection) != CONNECTION_BAD else { throw failure() }
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            let events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT
            guard wait(for: events, on: PQsocket(connection), until: deadline) else {
                throw .lost(Loss(host: server.name, reason: "it did not accept the connection in time", isLate: true))
            }
            state = PQconnectPoll(connection)
            if state == PGRES_POLLING_FAILED { throw failure() }
        }
    }
}

extension PostgreSQLAddress {
    /// The same, with a connection on which the server gets no password that it does not know.
    var boundToPassword: PostgreSQLAddress {
        var server = self
        server.parameters["channel_binding"] = "require"
        if server.parameters["sslmode"] != "verify-ca" { server.parameters["sslmode"] = "require" }
        return server
    }

    fileprivate var isBound: Bool { parameters["channel_binding"] == "require" }

    /// The same, with no password that libpq could find by itself. Only the environment's cannot be left out; a useless
    /// one replaces it.
    var withoutPassword: PostgreSQLAddress {
        var server = self
        // Below a file that is no folder, so nobody can create it.
        server.parameters["passfile"] = "/dev/null/none"
        if ConnectionURI.hasPasswordInEnvironment { server.parameters["password"] = "none" }
        return server
    }
}
