package import Glibc

/// A PostgreSQL server for the tests, or PgBouncer in front of one. It ends with the object, or with this process.
package final class PostgreSQLServer: Sendable {
    /// A server that all tests share which do not end it; each uses a separate schema.
    package static let shared = Result { try PostgreSQLServer() }

    /// PgBouncer in front of the shared server, by its mode.
    package static let poolers = ["session", "transaction"].reduce(
        into: [String: Result<PostgreSQLServer, any Error>]()
    ) {
        (poolers, mode) in
        poolers[mode] = Result { try PostgreSQLServer(before: shared.get(), mode: mode) }
    }

    package let port: Int
    package let folder: String
    private let companion: Companion

    /// Starts a server with further settings, such as `-c name=value`, whose values have no spaces.
    package convenience init(_ settings: String...) throws { try self.init("postgres", settings) }

    /// Starts PgBouncer in one of its modes in front of a server.
    package convenience init(before server: PostgreSQLServer, mode: String) throws {
        try self.init("pgbouncer", [mode, "\(server.port)"])
    }

    /// Starts a standby of a server.
    ///
    /// - Parameter port: The port of a server that was discarded; `nil` for a free one.
    package convenience init(standbyOf primary: PostgreSQLServer, port: Int? = nil) throws {
        try self.init("standby", ["\(primary.port)"], port: port)
    }

    private init(_ kind: String, _ words: [String], port: Int? = nil) throws {
        let port = try port ?? FreePort.find()
        self.port = port
        folder = try TemporaryFolder.make(named: "pg")
        companion = try Companion(
            "/bin/sh", ["\(Self.programs)/server.sh", kind, folder, "\(port)"] + words,
            environment: ["PATH": "/usr/bin:/bin:/usr/sbin", "LC_ALL": "C"])
    }

    private static let programs = "\(Repository.tests)/PostgreSQLStoreTests/Programs"

    /// Ends all of the server's processes at once, as a power failure does.
    package func kill() throws { try companion.send("kill") }

    /// Ends it as an administrator does.
    package func stop() throws { try companion.send("stop") }

    /// Starts it again.
    package func start() throws { try companion.send("start") }

    /// Makes a standby a primary, and returns when it accepts writes.
    package func promote() throws { try companion.send("promote") }

    /// The password of the users `secret` and `clear`; the latter is asked for it in clear. No other user is asked.
    package static let password = "correct horse"

    /// The URI of its database.
    package func uri(_ user: String = "localdata", host: String = "127.0.0.1", _ query: String = "") -> String {
        "postgresql://\(user)@\(host):\(port)/postgres\(query)"
    }

    /// A certificate file: `authority`, which signed the server's, or `other`.
    package func certificate(_ name: String) -> String { "\(folder)/postgres/\(name).crt" }
}

/// A free port on 127.0.0.1.
package enum FreePort {
    package static func find() throws -> Int {
        let listener = try Listening()
        return listener.port
    }
}

/// A socket that listens on 127.0.0.1.
package final class Listening: Sendable {
    package let descriptor: Int32
    package let port: Int

    /// - Parameter port: 0 for a free one.
    package init(port: Int = 0) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = Self.address(port)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 100) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        self.descriptor = descriptor
        self.port = Int(UInt16(bigEndian: address.sin_port))
        guard isBound else { throw TestFailure("no socket on port \(port): error \(errno)") }
    }

    deinit { close(descriptor) }

    package static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }
}
