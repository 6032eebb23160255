internal import CPostgreSQL
internal import Glibc
internal import LocalDataPluginAPI
internal import ServerAccess

/// A connection URI of libpq, without secrets. Errors never quote it: it may contain a password by mistake.
struct ConnectionURI {
    private var values: [String: String] = [:]

    /// - Throws: `invalidOptions` if libpq cannot parse it, or if it contains a password.
    init(_ text: String) throws(StorageError) {
        guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://"), !text.utf8.contains(0) else {
            throw StorageError(
                .invalidOptions, "option 'uri' is not a connection URI",
                hint: "write postgresql://USER@HOST:PORT/DATABASE")
        }
        guard let options = PQconninfoParse(text, nil) else {
            throw StorageError(
                .invalidOptions, "libpq cannot parse option 'uri'",
                hint: "write postgresql://USER@HOST:PORT/DATABASE, and %40 for '@' in a name")
        }
        defer { PQconninfoFree(options) }
        var next = options
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val, value.pointee != 0 {
                values[String(cString: keyword)] = String(cString: value)
            }
            next += 1
        }
        if let secret = ["password", "sslpassword"].first(where: { values[$0] != nil }) {
            throw StorageError(
                .invalidOptions, "option 'uri' contains a password (\(secret)), which a configuration must not contain",
                hint: "remove it, change the password, and name a file in option 'passwordFile' or in PGPASSFILE, or a "
                    + "value of the keychain in option 'password'")
        }
        if values["service"] != nil {
            throw StorageError(
                .invalidOptions, "option 'uri' names a service file", hint: "write host, port and database instead")
        }
    }

    /// Its hosts in order, each with the parameters of a connection.
    ///
    /// - Parameter allowsUnverified: Whether servers on this machine need not show who runs them.
    /// - Throws: `invalidOptions` if a connection over the network would not verify its server.
    func servers(allowingUnverified allowsUnverified: Bool) throws(StorageError) -> [PostgreSQLAddress] {
        let hosts = list("host", or: "PGHOST", fallback: Self.socketFolder)
        let ports = list("port", or: "PGPORT", fallback: "5432")
        guard ports.count == 1 || ports.count == hosts.count else {
            throw StorageError(
                .invalidOptions, "option 'uri' has \(hosts.count) hosts and \(ports.count) ports",
                hint: "give each host a port, or all of them one")
        }
        guard hosts.count == 1 || values["hostaddr"] == nil else {
            throw StorageError(
                .invalidOptions, "option 'uri' has several hosts and 'hostaddr'", hint: "leave 'hostaddr' out")
        }
        var servers: [PostgreSQLAddress] = []
        for (index, host) in hosts.enumerated() {
            let port = ports[ports.count == 1 ? 0 : index]
            servers.append(try server(host, port, isOnly: hosts.count == 1, allowsUnverified))
        }
        return servers
    }

    /// The folder of Debian's servers, which the system user ``socketUser`` runs.
    private static let socketFolder = "/var/run/postgresql"
    private static let socketUser = "postgres"

    private func server(
        _ host: String, _ port: String, isOnly: Bool, _ allowsUnverified: Bool
    ) throws(StorageError) -> PostgreSQLAddress {
        var parameters = values
        parameters["host"] = host
        parameters["port"] = port
        parameters["fallback_application_name"] = "localdata"
        if parameters["gssencmode"] == nil { parameters["gssencmode"] = "disable" }
        switch values["target_session_attrs"] {
        // Each host is tried by itself, so there is no other one to prefer.
        case "prefer-standby": parameters["target_session_attrs"] = "any"
        case nil: parameters["target_session_attrs"] = isOnly ? "any" : "read-write"
        default: break
        }
        let mode = values["sslmode"] ?? variable("PGSSLMODE")
        // libpq connects to these in place of the host.
        let addresses = (values["hostaddr"] ?? variable("PGHOSTADDR") ?? "").split(separator: ",")
        if PostgreSQLAddress.isLocal(host), addresses.allSatisfy({ PostgreSQLAddress.isLocal(String($0)) }) {
            parameters["sslmode"] = mode ?? "prefer"
        } else {
            guard mode == nil || mode == "verify-full" else {
                throw StorageError(
                    .invalidOptions, "option 'uri' connects to '\(host)' with sslmode '\(mode ?? "")'",
                    hint: "use verify-full, or reach the server by a Unix socket or a tunnel on this machine")
            }
            parameters["sslmode"] = "verify-full"
        }
        if parameters["sslmode"] == "verify-full", values["sslrootcert"] == nil, variable("PGSSLROOTCERT") == nil {
            parameters["sslrootcert"] = "/etc/ssl/certs/ca-certificates.crt"
        }
        let isPath = host.hasPrefix("/") || host.hasPrefix("@")
        let isSocket = isPath && addresses.isEmpty
        if isSocket, !allowsUnverified, [Self.socketFolder, "/run/postgresql"].contains(host), peer == nil {
            parameters["requirepeer"] = Self.socketUser
        }
        let isVerified =
            isSocket
            ? parameters["requirepeer"] != nil || peer != nil : parameters["sslmode"] == "verify-full"
        return PostgreSQLAddress(
            name: isPath ? "\(host)/.s.PGSQL.\(port)" : "\(host):\(port)", parameters: parameters,
            proof: isVerified || allowsUnverified ? .given : isSocket ? .impossible : .byPassword)
    }

    /// The system user that must run the server behind a socket.
    private var peer: String? { values["requirepeer"] ?? variable("PGREQUIREPEER") }

    private func list(_ name: String, or variableName: String, fallback: String) -> [String] {
        let text = values[name] ?? variable(variableName) ?? fallback
        return text.split(separator: ",", omittingEmptySubsequences: false).map { $0.isEmpty ? fallback : String($0) }
    }

    /// Whether libpq takes a password from the environment, which no parameter replaces by none.
    static var hasPasswordInEnvironment: Bool { variable("PGPASSWORD") != nil || variable("PGSERVICE") != nil }

    private func variable(_ name: String) -> String? { Self.variable(name) }

    private static func variable(_ name: String) -> String? {
        secure_getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// One host of the URI.
struct PostgreSQLAddress: Sendable {
    /// The host and its port, or the path of its socket, for messages.
    let name: String
    /// libpq's parameters for it, without the password.
    var parameters: [String: String]
    let proof: ServerProof

    /// Whether a host is this machine: a Unix socket or a loopback address.
    static func isLocal(_ host: String) -> Bool {
        host.hasPrefix("/") || host.hasPrefix("@") || LoopbackHost.contains(host)
    }
}

/// How a server shows who runs it, before it may learn a password.
enum ServerProof {
    /// By a verified certificate or by the system user behind its socket; or the user asks for no proof.
    case given
    /// Only by knowing the password itself (SCRAM), over the connection's own channel.
    case byPassword
    /// Not at all: a socket without `requirepeer`.
    case impossible
}
