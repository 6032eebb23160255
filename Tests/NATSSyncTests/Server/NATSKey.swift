import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport

struct NATSKey {
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
