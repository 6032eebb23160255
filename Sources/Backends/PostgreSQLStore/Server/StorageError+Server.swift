internal import LocalDataPluginAPI

extension StorageError {
    /// Converts a server's refusal.
    ///
    /// - Parameter work: The action and its object.
    init(_ error: ServerError, _ work: String, _ host: String) {
        let (code, hint) = Self.meaning(of: error.state)
        let reason = error.message.isEmpty ? "error" : error.message
        self.init(code, "the server at \(host) refused \(work): \(reason) (\(error.state))", hint: hint)
    }

    /// Converts the loss of a connection before anything could have changed.
    init(_ loss: Loss, _ work: String) {
        let (code, hint) =
            switch loss.state.prefix(2) {
            // libpq's own words, which no state comes with and which it does not translate.
            case ""
            where loss.lacksProof && ["channel binding", "SSL was required"].contains { loss.reason.contains($0) }:
                (Code.permissionDenied, Self.waysToProve)
            case "" where loss.reason.contains("requirepeer"):
                (
                    Code.permissionDenied,
                    "if the server is run by another system user, name that one as requirepeer in option 'uri'"
                )
            // libpq looks up the name of the server's user only to compare it with requirepeer.
            case "" where loss.reason.contains("local user with ID"):
                (
                    Code.permissionDenied,
                    "requirepeer names nobody who has no entry in the user database; give the server's user an entry"
                )
            case "" where loss.reason.contains("no password supplied"):
                (
                    Code.permissionDenied,
                    "name a value of the keychain in option 'password', or a file in option 'passwordFile'"
                )
            case "" where loss.reason.contains("certificate verify failed"):
                (
                    .storeUnavailable,
                    "name the authority that has signed the server's certificate in sslrootcert of option 'uri'"
                )
            case "" where loss.isLate && loss.wasSent:
                (
                    .storeUnavailable,
                    "see in pg_stat_activity what it waits for, such as a lock; check that it runs, then try again"
                )
            case "28": (Code.permissionDenied, "check the user, the password file and the server's pg_hba.conf")
            case "3D": (.storeUnavailable, "create the database, or correct option 'uri'")
            default: (.storeUnavailable, "check that the server runs and can be reached, then try again")
            }
        self.init(code, "the server at \(loss.host) cannot be reached, \(work): \(loss.reason)", hint: hint)
    }

    /// A server that asks for a password, and could be any program.
    static func unverified(_ server: PostgreSQLAddress) -> StorageError {
        StorageError(
            .permissionDenied,
            "the server at \(server.name) asks for a password, and nothing shows who runs it; it got none",
            hint: waysToProve)
    }

    private static let waysToProve =
        "connect by a Unix socket, and name the server's system user in option 'uri' (requirepeer=postgres); or let "
        + "the server have TLS and scram-sha-256; option 'allowsUnverifiedServer' sends the password all the same"

    /// A change of which nobody knows whether the server made it.
    static func unknownOutcome(_ loss: Loss, _ work: String) -> StorageError {
        StorageError(
            .timedOut,
            "the connection to \(loss.host) was lost, \(work), and whether the change was made is unknown: \(loss.reason)",
            hint: "check the value, then repeat the change")
    }

    /// The server has accepted a value, and stored none.
    static func leftOut(_ name: String, of count: Int, _ work: String, _ host: String) -> StorageError {
        StorageError(
            .storeUnavailable,
            "\(host) has not stored '\(name)', \(work): a trigger or rule of the table 'value' leaves its row out"
                + (count > 1 ? "; other values of the batch may be stored" : ""),
            hint: "remove the trigger or rule, or use another schema")
    }

    private static func meaning(of state: String) -> (Code, String) {
        switch state {
        case "25006": (.permissionDenied, "the server is a read-only standby; add target_session_attrs=read-write")
        case "42501": (.permissionDenied, "grant the user its rights in the database")
        case "53100": (.noSpace, "free some space on the server")
        case "53200", "53300", "53400": (.storeUnavailable, "the server lacks resources; try again later")
        case "54000", "22001": (.valueTooLarge, "")
        case "40001", "40P01", "55P03": (.busy, "another user of the store changed it at the same time; try again")
        case "57014": (.storeUnavailable, "the server cancelled the statement; see its statement_timeout")
        case "XX001", "XX002": (.corrupt, "restore the database from a backup")
        case "42P01", "3F000", "42883", "42703":
            (.storeUnavailable, "tables of the store are missing or were changed; restore them from a backup")
        case "LD001": (.busy, "try again")
        default: (state.hasPrefix("58") ? .fileError : .unknown, "")
        }
    }
}
