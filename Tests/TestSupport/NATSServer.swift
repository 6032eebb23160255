import Glibc
import Testing

/// A NATS server for the tests, with JetStream. It ends with the object, or with this process.
package final class NATSServer: Sendable {
    /// The source of a server's program.
    package enum Version: String, CaseIterable, Sendable, CustomTestStringConvertible {
        /// The package of the distribution.
        case debian = "/usr/sbin/nats-server"
        /// PyPI's package, which `.ci/require-python` installs.
        case current = "/.build/python/bin/nats-server"

        package var program: String { self == .current ? Repository.root + rawValue : rawValue }
        package var testDescription: String { self == .current ? "current" : "debian" }

        /// Debian's, and PyPI's if it is installed.
        package static var installed: [Version] { allCases.filter { $0 == .debian || access($0.program, X_OK) == 0 } }
    }

    /// A server that all tests share which do not end it; each uses a separate bucket.
    package static let shared = Result { try NATSServer() }

    package let port: Int
    package let folder: String
    private let companion: Companion

    /// Starts a server with further lines of its configuration, where `%f` is the server's folder.
    package convenience init(_ version: Version = .debian, _ lines: String...) throws { try self.init(version, lines) }

    /// The same with a list of lines.
    package init(_ version: Version, _ lines: [String]) throws {
        port = try FreePort.find()
        folder = try TemporaryFolder.make(named: "nats")
        companion = try Companion(
            "/bin/sh",
            ["\(Repository.tests)/NATSSyncTests/Programs/server.sh", folder, "\(port)", version.program] + lines,
            environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C"])
    }

    /// Ends the server at once.
    package func kill() throws { try companion.send("kill") }

    /// Starts it again.
    package func start() throws { try companion.send("start") }

    /// Removes what it stored; it must have ended.
    package func wipe() throws { try companion.send("wipe") }

    /// Makes it answer no client until ``resume()``.
    package func pause() throws { try companion.send("pause") }

    package func resume() throws { try companion.send("resume") }

    package var url: String { "nats://127.0.0.1:\(port)" }

    /// Its URL with the name in its certificate.
    package var secureURL: String { "tls://localhost:\(port)" }

    /// A file in its folder, such as `authority.crt`.
    package func file(_ name: String) -> String { "\(folder)/\(name)" }
}
