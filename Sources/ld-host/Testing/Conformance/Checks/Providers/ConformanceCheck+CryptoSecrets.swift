internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let cryptoSecrets: [ConformanceCheck] = [
        ConformanceCheck(crypto: "secrets.texts", "no key and no plaintext appears in an error or a log") { provider in
            // Letters of no language, so that a message cannot contain them by chance.
            let key = Data("xqzvkjwq7391hbnmtrpl5520gfdsqkxz".utf8)
            let text = Data("wvzqkxjh8842 ptlmbnrg0193 dfscqzvx5567 kjhgwqpz".utf8)
            var said: [String] = []
            func hear(_ observed: Observation?) { said += observed?.reports.map { "\($0.message) \($0.hint)" } ?? [] }
            for cipher in provider.ciphers {
                let use = CipherUse(key: key, nonce: Pattern.data(1, cipher.nonceSize), data: text)
                let sealed = try provider.seal(text, cipher, use)
                let forged = Sealed(ciphertext: sealed.ciphertext, tag: Data(count: cipher.tagSize))
                hear(provider.crypto.observeOpen(cipher.id, forged, use, plaintext: GuardedOutput(text.count)))
                var wrong = use
                wrong.key = key + key
                hear(provider.crypto.observeOpen(cipher.id, sealed, wrong, plaintext: GuardedOutput(text.count)))
                for other in [key + key, Data(key.dropLast()), key] {
                    wrong.key = other
                    wrong.nonce = other == key ? Data(count: 3) : use.nonce
                    hear(
                        provider.crypto.observeSeal(
                            cipher.id, text, wrong, ciphertext: GuardedOutput(text.count), tag: GuardedOutput(64)))
                }
            }
            for function in provider.derivations {
                let derivation = Derivation(function).with { $0.secret = key }
                hear(provider.crypto.observeDerive(derivation, count: 0, into: GuardedOutput(1)))
                hear(
                    provider.crypto.observeDerive(
                        derivation.with { ($0.iterations, $0.memory) = (0, 0) }, count: 32, into: GuardedOutput(32)))
            }
            hear(provider.crypto.observePublicKey(key + key, into: GuardedOutput(64)))
            hear(provider.crypto.observeAgree(key + key, key, into: GuardedOutput(64)))
            hear(provider.crypto.observeAgree(key, Data(count: 32), into: GuardedOutput(64)))
            hear(provider.crypto.observeSigningPublicKey(key + key, into: GuardedOutput(64)))
            hear(provider.crypto.observeSign(text, key + key, into: GuardedOutput(64)))
            hear(provider.crypto.observeVerify(Data(count: 64), text, key))
            said += provider.subject.log.messages
            for (name, secret) in [("the key", key), ("the plaintext", text)] {
                for sample in secret.samples {
                    try expect(
                        !said.contains { $0.lowercased().contains(sample) }, "\(name) is in a message or in the log")
                }
            }
        }
    ]
}

extension Data {
    /// Every eight bytes of a text, as text, hexadecimal and Base64, in lower case.
    fileprivate var samples: [String] {
        (0...Swift.max(0, count - 8)).flatMap { start in
            let piece = Data(dropFirst(start).prefix(8))
            let encoded = Data(piece.prefix(6)).base64EncodedString()
            return [String(decoding: piece, as: UTF8.self), piece.hex, encoded].map { $0.lowercased() }
        }
    }
}
