import FoundationEssentials
import TestSupport
import Testing

/// Machines that share a schema of a PostgreSQL database: separate homes with their own configuration and state.
final class Machines: Sendable {
    let homes: [Home]
    let schema: String
    private let credentials: String

    var one: Home { homes[0] }
    var two: Home { homes[1] }

    /// - Parameter isSealed: Whether values are sealed, by a ring in the database that a credential of both opens.
    init(on server: PostgreSQLServer, isSealed: Bool = false) throws {
        let schema = "machines_\(UInt32.random(in: 0 ... .max))"
        self.schema = schema
        let credentials = try TemporaryFolder.make(named: "credentials", mode: 0o700)
        self.credentials = credentials
        try Data("a credential of both machines".utf8).write(to: URL(filePath: "\(credentials)/ring"))
        homes = try (0..<2).map { _ in
            let home = try Home()
            try home.done("config", "set", "stores.shared.component", "postgresql")
            try home.done("config", "set", "stores.shared.options.uri", server.uri())
            try home.done("config", "set", "stores.shared.options.schema", schema)
            try home.done("config", "set", "domains.userDefaults", "shared")
            if isSealed {
                home.add("CREDENTIALS_DIRECTORY", credentials)
                try home.done("config", "set", "stores.shared.sealing", #"{"source": "credential", "name": "ring"}"#)
            }
            return home
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: credentials) }

    /// Runs a command line on the first machine. In it, `there COMMAND...` runs a command on the second one.
    func shell(
        _ line: String, adding variables: [String: String] = [:], deadline: Duration = Home.deadline
    ) throws -> Home.Ending {
        try one.shell(
            """
            there() {
                HOME=$OTHER XDG_CONFIG_HOME=$OTHER/config XDG_DATA_HOME=$OTHER/data XDG_CACHE_HOME=$OTHER/cache \
                    XDG_STATE_HOME=$OTHER/state "$@"
            }
            \(line)
            """, adding: ["OTHER": two.path, "SCHEMA": schema].merging(variables) { $1 },
            deadline: deadline)
    }
}
