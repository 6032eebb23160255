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

private struct NATSKey {
    enum Kind: UInt8 {
        case account = 0
        case `operator` = 112
        case user = 160
    }

    private static let crypto = Result {
        try PluginImage.load(BuiltProducts.plugin("OpenSSLCrypto"))
            .openCrypto("openssl", options: [:], folder: "/nonexistent", log: SilentLog())
    }

    /// The public key.
    let text: String
    /// The private key.
    let seed: String
    private let key: [UInt8]

    init(_ kind: Kind) throws {
        let key = (0..<32).map { _ in UInt8.random(in: 0...255) }
        var publicKey = [UInt8](repeating: 0, count: 32)
        try key.withUnsafeBytes { key in
            try publicKey.withUnsafeMutableBytes {
                try Self.crypto.get().publicKey(ofSigningKey: key, for: .ed25519, into: $0)
            }
        }
        self.key = key
        text = Self.text(of: [kind.rawValue] + publicKey)
        seed = Self.text(of: [144 | kind.rawValue >> 5, kind.rawValue << 3] + key)
    }

    /// A signed claim of this key about another.
    func claim(of subject: NATSKey, _ rights: String) throws -> String {
        let head = Self.base64(Data(#"{"typ":"JWT","alg":"ed25519-nkey"}"#.utf8))
        let body = """
            {"jti":"\(UInt64.random(in: 0 ... .max))","iat":1700000000,"iss":"\(text)","name":"test",\
            "sub":"\(subject.text)","nats":{\(rights),"version":2}}
            """
        let signed = "\(head).\(Self.base64(Data(body.utf8)))"
        var signature = [UInt8](repeating: 0, count: 64)
        try Array(signed.utf8).withUnsafeBytes { message in
            try key.withUnsafeBytes { key in
                try signature.withUnsafeMutableBytes {
                    try Self.crypto.get().sign(message, with: key, by: .ed25519, into: $0)
                }
            }
        }
        return "\(signed).\(Self.base64(Data(signature)))"
    }

    private static func base64(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Bytes and their CRC-16 (XMODEM), in base 32 (RFC 4648) without padding.
    private static func text(of bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        var sum: UInt16 = 0
        for byte in bytes {
            sum ^= UInt16(byte) << 8
            for _ in 0..<8 { sum = sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
        }
        var (text, rest, bits) = ("", 0, 0)
        for byte in bytes + [UInt8(truncatingIfNeeded: sum), UInt8(sum >> 8)] {
            (rest, bits) = (rest << 8 | Int(byte), bits + 8)
            while bits >= 5 {
                bits -= 5
                text.append(alphabet[rest >> bits & 31])
            }
            rest &= 1 << bits - 1
        }
        if bits > 0 { text.append(alphabet[rest << (5 - bits) & 31]) }
        return text
    }
}
