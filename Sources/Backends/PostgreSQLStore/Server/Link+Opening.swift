internal import CPostgreSQL
internal import Glibc
internal import LocalDataAPI
internal import ServerAccess

extension Link {
    /// Connects to a host and prepares the session.
    ///
    /// - Throws: ``LinkFailure``, and `StorageError` for an unusable file with the password.
    static func open(
        _ server: ServerAddress, _ options: ServerOptions, _ statements: StatementTexts, until deadline: Deadline
    ) throws -> Link {
        let connection = try started(server.resolved(until: deadline), options.password)
        do {
            try finish(connection, server.name, until: deadline)
        } catch {
            PQfinish(connection)
            throw error
        }
        PQsetnonblocking(connection, 1)
        PQenterPipelineMode(connection)
        let link = Link(connection, host: server.name, statements: statements, prepares: options.prepares)
        try link.begin(until: deadline)
        return link
    }

    private static func started(_ server: ServerAddress, _ password: ServerSecret?) throws -> OpaquePointer {
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

    private static func finish(_ connection: OpaquePointer, _ host: String, until deadline: Deadline)
        throws(LinkFailure)
    {
        func failure() -> LinkFailure {
            let message = ConnectionMessage(connection)
            return .lost(Loss(host: host, reason: message.text, state: message.state))
        }
        guard PQstatus(connection) != CONNECTION_BAD else { throw failure() }
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            let events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT
            guard wait(for: events, on: PQsocket(connection), until: deadline) else {
                throw .lost(Loss(host: host, reason: "it did not accept the connection in time", isLate: true))
            }
            state = PQconnectPoll(connection)
            if state == PGRES_POLLING_FAILED { throw failure() }
        }
    }

    /// Finds out whether there is a pooler. Without one, the server process takes a lock that it holds until it ends;
    /// ``Outcome`` waits for that.
    private func begin(until deadline: Deadline) throws {
        let answer = try exchange([Call(.session)], until: deadline).first
        guard let answer, answer.count == 1 else {
            throw LinkFailure.lost(Loss(host: host, reason: "it does not answer like a PostgreSQL server"))
        }
        guard answer.integer(1) >= 120_000 else {
            throw StorageError(
                .unsupported, "the server at \(host) has version \(answer.integer(1) / 10_000); expected 12 or later")
        }
        isStandby = answer.integer(3) != 0
        risks = zip(["fsync", "full_page_writes"], [answer.integer(4), answer.integer(5)]).filter { $1 != 0 }.map(\.0)
        isPooled = Int64(PQbackendPID(connection)) != answer.integer(0)
        guard !isPooled else { return }
        var calls = [Call(.lockSession, [.integer(session)]), Call(.keepAlive)]
        if answer.integer(2) != 0 { calls.append(Call(.synchronize)) }
        try exchange(calls, until: deadline)
    }
}

/// What libpq says about a failed connection, without its location in the server's source.
struct ConnectionMessage {
    /// One line.
    let text: String
    /// The SQLSTATE; empty if the server gave none.
    let state: String

    init(_ connection: OpaquePointer) {
        let message = PQerrorMessage(connection).map { String(cString: $0) } ?? ""
        let lines = message.split(separator: "\n").filter { !$0.hasPrefix("LOCATION:") }
        var text = lines.map { $0.drop { $0 == "\t" || $0 == " " } }.joined(separator: "; ")
        // "FATAL:  28P01: password authentication failed", in any language.
        var state = ""
        if let found = text.firstRange(of: #/:  [0-9A-Z]{5}: /#) {
            state = String(text[found].dropFirst(3).prefix(5))
            text.replaceSubrange(found, with: ": ")
        }
        (self.text, self.state) = (text, state)
    }
}
