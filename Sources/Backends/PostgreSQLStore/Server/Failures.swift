internal import CPostgreSQL

/// A server's refusal of a statement.
struct ServerError: Error {
    /// The SQLSTATE, five characters.
    let state: String
    /// The primary message; empty where it could quote a value.
    let message: String

    init(state: String, message: String) {
        self.state = state
        // Data exceptions and violated constraints may quote what they were given.
        self.message = state.hasPrefix("22") || state.hasPrefix("23") ? "" : message
    }

    init(_ result: OpaquePointer) {
        self.init(
            state: Self.field(result, UInt8(ascii: "C")), message: Self.field(result, UInt8(ascii: "M")))
    }

    /// Whether the same transaction can succeed when it is repeated: a conflict with another one or a deadlock.
    var isConflict: Bool { state == "40001" || state == "40P01" }

    /// Whether this connection's prepared statements are gone or outdated.
    var isStalePlan: Bool { state == "26000" || state == "42P05" || state == "0A000" }

    /// Whether the connection ends with this, so that it does not show what became of a commit.
    static func endsConnection(_ result: OpaquePointer) -> Bool {
        let state = field(result, UInt8(ascii: "C"))
        if state.isEmpty || state.hasPrefix("08") || state.hasPrefix("57P") { return true }
        return ["FATAL", "PANIC"].contains(field(result, UInt8(ascii: "V")))
    }

    static func field(_ result: OpaquePointer, _ code: UInt8) -> String {
        PQresultErrorField(result, Int32(code)).map { String(cString: $0) } ?? ""
    }
}

/// Why an exchange with a server did not succeed.
enum LinkFailure: Error {
    /// The server refused a statement and keeps the connection.
    case refused(ServerError)
    /// The connection was lost, or its answer did not come in time.
    case lost(Loss)
}

/// The loss of a connection.
struct Loss {
    /// The host that was connected or tried.
    let host: String
    var reason: String
    /// Whether the deadline passed.
    var isLate = false
    /// The SQLSTATE of a refused connection, if the server gave one.
    var state = ""
    /// Whether the server asked for a password when the link connected.
    var asksForPassword = false
    /// Whether the server had to show that it knows the password, over TLS.
    var lacksProof = false
    /// Whether the server may have received statements of the exchange.
    var wasSent = false
}
