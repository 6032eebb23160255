internal import LocalDataPluginAPI
internal import ServerAccess

/// What an operator should know of a server: whether a power loss may take away what it has acknowledged.
///
/// JetStream syncs every two minutes, and acknowledges before that. The setting `sync_interval: always` changes this,
/// from version 2.10.23 on without gaps. A client sees the version, but not the setting.
struct ServerAdvice {
    private static let least = [2, 10, 23]
    private let host: String
    private let version: String?

    /// Asks the server for its version. Versions before 2.10 do not tell, and some users may not ask.
    init(_ link: NATSLink, _ options: NATSOptions) {
        host = link.server.name
        let call = LinkCall()
        version = try? {
            var options = options
            options.timeout = min(options.timeout, 2)
            let session = try LinkSession(link, call, options)
            defer { session.end() }
            let message = try session.answer("$SYS.REQ.USER.INFO")
            if message?.hasNoResponder == true { return "before 2.10" }
            return try message.flatMap { try session.decoded($0, "", as: UserInfo.self).server?.ver }
        }()
    }

    /// The warning; `nil` for nothing to say.
    ///
    /// - Parameter syncsAlways: Whether the operator says that the server syncs before it acknowledges.
    func warning(syncsAlways: Bool) -> String? {
        if let version, Self.parts(version).lexicographicallyPrecedes(Self.least) {
            return
                "the server at \(host) is nats-server \(version), which may lose acknowledged records in a power loss; "
                + "run 2.10.23 or later with 'sync_interval: always'"
        }
        guard !syncsAlways else { return nil }
        return "the server at \(host) may lose the records of two minutes in a power loss; run nats-server 2.10.23 or "
            + "later with 'sync_interval: always', and then set option 'syncsAlways' to true"
    }

    private static func parts(_ version: String) -> [Int] {
        version.split { $0 == "." || $0 == "-" }.prefix(3).map { Int($0) ?? 0 }
    }
}

/// What the server answers to a user who asks about itself.
private struct UserInfo: Decodable {
    struct Server: Decodable { let ver: String? }

    let server: Server?
}
