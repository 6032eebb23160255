internal import CPostgreSQL
internal import Glibc
internal import LocalDataPluginAPI
internal import ServerAccess

extension ServerLink {
    /// Connects to a host and prepares the session.
    ///
    /// - Throws: ``LinkFailure``, and `StorageError` for an unusable file with the password.
    static func open(
        _ server: PostgreSQLAddress, _ options: PostgreSQLOptions, _ statements: StatementTexts,
        until deadline: Deadline
    ) throws -> ServerLink {
        let connection = try connected(server.resolved(until: deadline), options.password, until: deadline)
        PQsetnonblocking(connection, 1)
        PQenterPipelineMode(connection)
        let link = ServerLink(connection, host: server.name, statements: statements, prepares: options.prepares)
        try link.begin(until: deadline)
        return link
    }

    /// Finds out whether there is a pooler. Without one, the server process takes a lock that it holds until it ends;
    /// ``WriteOutcome`` waits for that.
    private func begin(until deadline: Deadline) throws {
        let answer = try exchange([StatementCall(.session)], until: deadline).first
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
        var calls = [StatementCall(.lockSession, [.integer(session)]), StatementCall(.keepAlive)]
        if answer.integer(2) != 0 { calls.append(StatementCall(.synchronize)) }
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
