internal import Glibc

/// The cost of sealing and opening through a provider's table, called from C, compared with the same cipher elsewhere.
/// Each side is a separate program, measured by its processor time.
struct CipherCost {
    let setting: Setting
    private static let ciphers = [("AES-256-GCM", "aes-256-gcm"), ("ChaCha20-Poly1305", "chacha20-poly1305")]
    private static let sizes = [("64 B", 64), ("1 KiB", 1024), ("16 KiB", 16_384), ("1 MiB", 1_048_576)]
    private static let actions = ["seal", "open"]

    func run() async throws {
        let openSSL = try Companion("\(setting.tools)/aead", ["\(setting.plugins)/libOpenSSLCrypto.so", "openssl"])
        let speed = try Companion("\(setting.tools)/openssl-speed", [])
        for (name, cipher) in Self.ciphers {
            for (words, size) in Self.sizes {
                for action in Self.actions {
                    // A run takes a second. For short values `openssl speed` does less than a call has to do, so there
                    // is no target, and one run suffices.
                    let isLong = size >= 16_384
                    let ours = try Self.turn(openSSL, action, cipher, size, nanoseconds: 1e8)
                    let times = try await Comparison.rounds(isLong ? 3 : 1, areWarm: true) {
                        try ours()
                    } baseline: {
                        try speed.ask("\(action) \(cipher) \(size)")
                    }
                    Row(
                        "`OpenSSLCrypto`: `\(action)` of \(words), \(name); `openssl speed`, the bare cipher", times,
                        atMost: isLong ? 1.1 : nil
                    ).print()
                }
            }
        }
        let sodium = try Companion("\(setting.tools)/aead", ["\(setting.plugins)/libSodiumCrypto.so", "sodium"])
        for action in Self.actions {
            let what = "`SodiumCrypto`: `\(action)` of 16 KiB, ChaCha20-Poly1305; `OpenSSLCrypto`"
            Row(what, try await Self.compare(sodium, openSSL, action, "chacha20-poly1305", 16_384)).print()
        }
        let path = "\(setting.tools)/swift-crypto"
        guard access(path, X_OK) == 0 else { return }
        let swiftCrypto = try Companion(path, [])
        for (name, cipher) in Self.ciphers {
            for (words, size) in Self.sizes {
                for action in Self.actions {
                    let what = "`OpenSSLCrypto`: `\(action)` of \(words), \(name); swift-crypto"
                    Row(what, try await Self.compare(openSSL, swiftCrypto, action, cipher, size), atMost: 1).print()
                }
            }
        }
    }

    private static func compare(
        _ ours: Companion, _ baseline: Companion, _ action: String, _ cipher: String, _ size: Int
    ) async throws -> Comparison {
        let ours = try turn(ours, action, cipher, size, nanoseconds: 1e7)
        let baseline = try turn(baseline, action, cipher, size, nanoseconds: 1e7)
        return try await Comparison.rounds(11, areWarm: true) {
            try ours()
        } baseline: {
            try baseline()
        }
    }

    /// A round of about so many nanoseconds; a first measurement decides how many calls fit.
    private static func turn(
        _ companion: Companion, _ action: String, _ cipher: String, _ size: Int, nanoseconds: Double
    ) throws -> () throws -> Double {
        let order = "\(action) \(cipher) \(size)"
        let few = max(10, 1_000_000 / size)
        let time = try companion.ask("\(order) \(few)")
        let count = max(3, Int(nanoseconds / max(time, 1)))
        return { try companion.ask("\(order) \(count)") }
    }
}
