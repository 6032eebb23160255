import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport

/// The configuration of a NATS server that trusts an operator, and the credentials of its users, as `nsc` writes them.
///
/// A key's text is its kind, the key and a CRC-16 in base 32. A claim is a JSON Web Token that the key of an operator
/// or an account has signed.
struct NATSCredentials {
    private let `operator`: NATSKey
    private let account: NATSKey
    private let system: NATSKey

    init() throws {
        (`operator`, account, system) = (try NATSKey(.operator), try NATSKey(.account), try NATSKey(.account))
    }

    /// Lines of the server's configuration.
    func configuration() throws -> [String] {
        let accounts = try [account, system].map { account in
            let limits = ["subs", "data", "payload", "imports", "exports", "conn", "leaf"].map { "\"\($0)\":-1" }
            let stored = ["mem_storage", "disk_storage", "streams", "consumer"]
                .map { "\"\($0)\":\(account.text == system.text ? 0 : -1)" }
            let all = (limits + ["\"wildcards\":true"] + stored).joined(separator: ",")
            return "\(account.text): \(try `operator`.claim(of: account, "\"limits\":{\(all)},\"type\":\"account\""))"
        }
        return [
            "operator: \(try `operator`.claim(of: `operator`, "\"type\":\"operator\""))", "resolver: MEMORY",
            "resolver_preload: { \(accounts.joined(separator: ", ")) }", "system_account: \(system.text)",
        ]
    }

    /// The file of a new user of the account.
    func user() throws -> String { try Self.file(of: NATSKey(.user), by: account) }

    /// The file of a user whose account the operator does not know.
    func stranger() throws -> String { try Self.file(of: NATSKey(.user), by: NATSKey(.account)) }

    private static func file(of user: NATSKey, by account: NATSKey) throws -> String {
        let rights = "\"pub\":{},\"sub\":{},\"subs\":-1,\"data\":-1,\"payload\":-1,\"type\":\"user\""
        return """
            -----BEGIN NATS USER JWT-----
            \(try account.claim(of: user, rights))
            ------END NATS USER JWT------

            -----BEGIN USER NKEY SEED-----
            \(user.seed)
            ------END USER NKEY SEED------

            """
    }
}
