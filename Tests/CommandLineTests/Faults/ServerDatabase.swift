import TestSupport

/// A database of its own on a server, which ends with the object.
final class ServerDatabase {
    let uri: String
    private let name: String
    private let server: PostgreSQLServer
    private let home: Home
    /// The server's own client, connected to this database.
    private let client: Companion

    init(of server: PostgreSQLServer, in home: Home) throws {
        name = "attempt_\(UInt32.random(in: 0 ... .max))"
        (self.server, self.home) = (server, home)
        uri = "postgresql://localdata@127.0.0.1:\(server.port)/\(name)?sslmode=disable"
        let created = try home.shell("\(Self.client(server, "postgres")) -c 'create database \(name)'")
        guard created.status == 0 else { throw TestFailure(created.errors) }
        client = try Companion(
            "/bin/sh", ["-c", "echo ready; \(Self.client(server, name)) 2>&1"], environment: home.environment)
    }

    deinit {
        _ = try? home.shell("\(Self.client(server, "postgres")) -c 'drop database \(name) with (force)'")
    }

    /// Runs statements.
    ///
    /// - Returns: Their rows, with `|` between columns.
    /// - Throws: ``TestFailure`` with the server's message; the client ends at the first error.
    @discardableResult func run(_ statements: String) throws -> String {
        try client.send("\(statements)\n\\echo ready")
    }

    /// A command line that starts the newest client that is installed.
    private static func client(_ server: PostgreSQLServer, _ database: String) -> String {
        """
        for psql in /usr/lib/postgresql/*/bin/psql; do :; done
        exec $psql -X -q -t -A -v ON_ERROR_STOP=1 -h 127.0.0.1 -p \(server.port) -U localdata -d \(database)
        """
    }
}
