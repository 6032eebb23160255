internal import CNATS
internal import Glibc
internal import LocalDataPluginAPI
internal import ServerAccess

/// A server of the option, such as `tls://nats.example:4222`.
struct NATSAddress: Sendable {
    /// Its host and port, for messages.
    let name: String
    let host: String
    let isSecure: Bool
    private var url: String { "\(isSecure ? "tls" : "nats")://\(name)" }

    /// - Throws: `invalidOptions` for a text that is no such URL, that has a secret, or that would send secrets over
    ///   the network in the clear. Never quotes the text: it may contain a password by mistake.
    init(_ text: String) throws(StorageError) {
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, ["nats", "tls"].contains(parts[0]) else {
            throw Self.invalid("is not the URL of a NATS server")
        }
        guard !parts[1].contains("@") else {
            throw StorageError(
                .invalidOptions, "option 'servers' contains a user or a secret, which belong in other options",
                hint: "remove it, change the secret, and name a file in option 'credentialsFile' or 'passwordFile'")
        }
        let rest = parts[1].hasSuffix("/") ? parts[1].dropLast() : parts[1]
        let isBracketed = rest.hasPrefix("[")
        let end = isBracketed ? rest.firstIndex(of: "]") : rest.lastIndex(of: ":") ?? rest.endIndex
        guard let end else { throw Self.invalid("has '[' without ']'") }
        let behind = isBracketed ? rest[rest.index(after: end)...] : rest[end...]
        let host = String(isBracketed ? rest[..<end].dropFirst() : rest[..<end])
        guard !host.isEmpty, Self.isHost(host, isBracketed), behind.isEmpty || behind.hasPrefix(":"),
            let port = behind.isEmpty ? 4222 : UInt16(behind.dropFirst()), port > 0
        else { throw Self.invalid("has a server whose host or port is not valid") }
        isSecure = parts[0] == "tls"
        self.host = host
        name = "\(isBracketed ? "[\(host)]" : host):\(port)"
        guard isSecure || LoopbackHost.contains(host) else {
            throw StorageError(
                .invalidOptions, "option 'servers' connects to '\(host)' without TLS",
                hint: "write tls://\(name), or reach the server by a tunnel on this machine")
        }
    }

    private static func isHost(_ host: String, _ isAddress: Bool) -> Bool {
        host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            case UInt8(ascii: ":"), UInt8(ascii: "%"): isAddress
            default: false
            }
        }
    }

    private static func invalid(_ flaw: String) -> StorageError {
        StorageError(
            .invalidOptions, "option 'servers' \(flaw)",
            hint: "write tls://HOST:PORT, or nats://127.0.0.1:PORT, and a comma between servers")
    }
}

extension NATSAddress {
    /// Connects, on the caller's thread, for as long as the library takes.
    ///
    /// - Parameter loop: What `attachSocket` gets.
    func connect(_ options: NATSOptions, loop: UnsafeMutableRawPointer) throws(StorageError) -> OpaquePointer {
        var settings: OpaquePointer?
        var status = natsOptions_Create(&settings)
        defer { natsOptions_Destroy(settings) }
        status = status == NATS_OK ? set(settings, options) : status
        if status == NATS_OK, isSecure { status = try secure(settings, options) }
        if status == NATS_OK {
            status = natsOptions_SetEventLoop(
                settings, loop, attachSocket, changeReading, changeWriting, detachSocket)
        }
        if status == NATS_OK { status = try authenticate(settings, options) }
        var connection: OpaquePointer?
        if status == NATS_OK { status = natsConnection_Connect(&connection, settings) }
        // libnats 3.4 sends no signature if its first byte is 0, as one of 256 is. Each connection makes another one.
        for _ in 1..<Self.attempts where status == NATS_CONNECTION_AUTH_FAILED && options.credentials != nil {
            status = natsConnection_Connect(&connection, settings)
        }
        guard status == NATS_OK, let connection else { throw failure(status, options) }
        return connection
    }

    /// How often to connect with signed credentials.
    private static let attempts = 4

    private func set(_ settings: OpaquePointer?, _ options: NATSOptions) -> natsStatus {
        var status = natsOptions_SetURL(settings, url)
        if status == NATS_OK { status = natsOptions_SetName(settings, "localdata") }
        if status == NATS_OK { status = natsOptions_SetTimeout(settings, Self.milliseconds(options)) }
        if status == NATS_OK { status = natsOptions_SetAllowReconnect(settings, false) }
        if status == NATS_OK { status = natsOptions_SetIgnoreDiscoveredServers(settings, true) }
        // A thread of the library would ask for the socket later.
        if status == NATS_OK { status = natsOptions_SetSendAsap(settings, true) }
        // Pings would come from a thread of the library. Calls have deadlines, and watches heartbeats.
        if status == NATS_OK { status = natsOptions_SetPingInterval(settings, 0) }
        return status
    }

    /// How long one server has to accept a connection. One that hangs leaves time for those behind it.
    private static func milliseconds(_ options: NATSOptions) -> Int64 {
        let count = options.servers.count
        return Int64(options.timeout * 1000 * (count > 1 ? 0.9 / Double(count) : 1))
    }

    private func secure(_ settings: OpaquePointer?, _ options: NATSOptions) throws(StorageError) -> natsStatus {
        var status = natsOptions_SetSecure(settings, true)
        // Without this, the library accepts a certificate for any name.
        if status == NATS_OK { status = natsOptions_SetExpectedHostname(settings, host) }
        if status == NATS_OK, let file = options.caFile {
            try Self.check(file, "caFile")
            status = natsOptions_LoadCATrustedCertificates(settings, file)
            if status != NATS_OK { throw Self.unusable(file, "caFile", "has no certificate in PEM") }
        }
        if status == NATS_OK, let file = options.certificateFile {
            try Self.check(file, "certificateFile")
            status = natsOptions_LoadCertificatesChain(settings, file, options.keyFile?.path)
            if status != NATS_OK {
                throw Self.unusable(
                    file, "certificateFile", "has no certificate in PEM that the key of 'keyFile' is for")
            }
        }
        return status
    }

    /// The library would not say which file it cannot read.
    private static func check(_ file: String, _ option: String) throws(StorageError) {
        guard access(file, R_OK) != 0 else { return }
        throw unusable(file, option, "cannot be read: \(String(cString: strerror(errno)))")
    }

    private static func unusable(_ file: String, _ option: String, _ flaw: String) -> StorageError {
        StorageError(
            .storeUnavailable, "the file '\(file)' \(flaw)",
            hint: "check the file, or set option '\(option)' to another")
    }

    private func authenticate(_ settings: OpaquePointer?, _ options: NATSOptions) throws(StorageError) -> natsStatus {
        do {
            try options.keyFile?.check()
            if let file = options.credentials {
                // The library would say that the server cannot be reached.
                guard try file.with({ Self.areCredentials($0) }) else {
                    throw StorageError(
                        .permissionDenied, "the credentials file '\(file.path)' has no user's token and key",
                        hint: "write it again, e.g. with: nsc generate creds")
                }
                return natsOptions_SetUserCredentialsFromFiles(settings, file.path, nil)
            }
            guard let password = options.password else { return NATS_OK }
            return try password.with { natsOptions_SetUserInfo(settings, options.user, $0) }
        } catch { throw (error as? StorageError) ?? StorageError(.storeUnavailable, "\(error)") }
    }

    /// Whether a text has a user's token and a seed, as `.creds` files do.
    private static func areCredentials(_ text: UnsafePointer<CChar>) -> Bool {
        strstr(text, "BEGIN NATS USER JWT-") != nil && strstr(text, "BEGIN USER NKEY SEED-") != nil
    }

    private func failure(_ status: natsStatus, _ options: NATSOptions) -> StorageError {
        var last = NATS_OK
        // The text begins with a line of the library's source, such as "(conn.c:2088): ".
        let detail = (nats_GetLastError(&last).map { String(cString: $0) } ?? "").trimmingPrefix(#/\([^)]*:\d+\): /#)
        let text = detail.isEmpty ? natsStatus_GetText(status).map { String(cString: $0) } ?? "" : String(detail)
        let (code, hint): (StorageError.Code, String) =
            switch status {
            case NATS_CONNECTION_AUTH_FAILED: (.permissionDenied, "check the user and the file with its secret")
            case NATS_SSL_ERROR: (.storeUnavailable, "check option 'caFile' and the server's certificate")
            case NATS_SECURE_CONNECTION_REQUIRED: (.storeUnavailable, "write tls:// in option 'servers'")
            case NATS_SECURE_CONNECTION_WANTED: (.storeUnavailable, "configure TLS in the server")
            case NATS_PROTOCOL_ERROR where isSecure && options.certificateFile == nil:
                // The server says so only after the handshake, by hanging up.
                (
                    .storeUnavailable,
                    "if the server asks for a certificate of the device, set options 'certificateFile' and 'keyFile'"
                )
            default: (.storeUnavailable, "check that the server runs and can be reached, then try again")
            }
        return StorageError(code, "the server at \(name) cannot be reached: \(text)", hint: hint)
    }
}
