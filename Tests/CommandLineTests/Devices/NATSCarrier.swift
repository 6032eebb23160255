import Glibc
import TestSupport
import Testing

/// A NATS server that all devices reach.
struct NATSCarrier: Carrier {
    private let server: NATSServer
    private let isSecure: Bool
    private static let password = "correct horse"

    var folders: [String] { [server.folder] }
    var port: Int { server.port }

    /// - Parameter isSecure: Whether the server uses TLS and requires a password.
    init(isSecure: Bool) throws {
        self.isSecure = isSecure
        server =
            isSecure
            ? try NATSServer(
                .current, "tls { cert_file: \"%f/server.crt\", key_file: \"%f/server.key\", timeout: 10 }",
                "authorization { user: ann, password: \"\(Self.password)\" }")
            : try NATSServer(.current)
    }

    func connect(_ home: Home, number: Int) throws {
        var options = ["servers": isSecure ? server.secureURL : server.url, "timeout": "5"]
        if isSecure {
            try home.done("set", "keychain:app/nats", "--stdin", input: Array("\(Self.password)\n".utf8))
            options.merge(
                ["caFile": server.file("authority.crt"), "user": "ann", "password": "keychain:app/nats"]) { $1 }
        }
        for (name, value) in options.sorted(by: { $0.key < $1.key }) {
            try home.done("config", "set", "sync.options.\(name)", value)
        }
        try home.done("config", "set", "sync.transport", "nats")
    }

    /// Kills the server, and starts it again after up to a second; every second time without its stored data.
    func disturb(round: Int, _ random: inout SeededGenerator) throws {
        try server.kill()
        if !round.isMultiple(of: 2) { try server.wipe() }
        usleep(UInt32.random(in: 0...1_000_000, using: &random))
        try server.start()
    }
}
