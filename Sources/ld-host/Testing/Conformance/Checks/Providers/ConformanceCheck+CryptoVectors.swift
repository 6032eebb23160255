internal import FoundationEssentials
internal import LocalDataAPI

extension ConformanceCheck {
    static let cryptoVectors: [ConformanceCheck] = [
        vectors("vectors.aes-gcm", "AES-256-GCM computes what NIST's examples say", .aes256GCM),
        vectors("vectors.chacha", "ChaCha20-Poly1305 computes what RFC 8439's examples say", .chaCha20Poly1305),
        vectors("vectors.xchacha", "XChaCha20-Poly1305 computes what its draft's example says", .xChaCha20Poly1305),
        vectors("vectors.hkdf", "HKDF-SHA256 computes what RFC 5869's examples say", .hkdfSHA256),
        vectors("vectors.pbkdf2", "PBKDF2-HMAC-SHA256 computes what RFC 7914's examples say", .pbkdf2HMACSHA256),
        vectors("vectors.hkdf-sha512", "HKDF-SHA512 computes what other implementations compute", .hkdfSHA512),
        vectors(
            "vectors.pbkdf2-sha512", "PBKDF2-HMAC-SHA512 computes what other implementations compute",
            .pbkdf2HMACSHA512),
        vectors("vectors.argon2id", "Argon2id computes what other implementations of RFC 9106 compute", .argon2id),
        ConformanceCheck(
            crypto: "vectors.x25519", "X25519 gives the results of RFC 7748's examples", if: .agreement
        ) { provider in
            for (privateKey, publicKey, secret) in AgreementVector.products {
                try expect(provider.agree(privateKey, publicKey), is: secret, "RFC 7748 section 5.2")
            }
            for (privateKey, publicKey) in AgreementVector.sides {
                try expect(
                    provider.publicKey(privateKey), is: publicKey, "RFC 7748 section 6.1, the public key")
            }
            let (one, other) = (AgreementVector.sides[0], AgreementVector.sides[1])
            try expect(provider.agree(one.0, other.1), is: AgreementVector.secret, "RFC 7748 section 6.1")
            try expect(provider.agree(other.0, one.1), is: AgreementVector.secret, "RFC 7748 section 6.1")
            var (key, point) = (AgreementVector.basePoint, AgreementVector.basePoint)
            for _ in 0..<AgreementVector.rounds.count { (key, point) = (try provider.agree(key, point), key) }
            try expect(key, is: AgreementVector.rounds.1, "RFC 7748 section 5.2, after 1,000 rounds")
        },
        ConformanceCheck(
            crypto: "vectors.ed25519", "Ed25519 gives the results of RFC 8032's examples", if: .signatures
        ) { provider in
            for vector in SignatureVector.standard {
                try expect(
                    provider.signingPublicKey(vector.privateKey), is: vector.publicKey,
                    "\(vector.source), the public key")
                try expect(
                    provider.sign(vector.message, vector.privateKey), is: vector.signature,
                    "\(vector.source), the signature")
                try provider.verify(vector.signature, vector.message, vector.publicKey, vector.source)
            }
        },
    ]

    private static func vectors(
        _ id: String, _ sentence: String, _ cipher: AuthenticatedCipher
    ) -> ConformanceCheck {
        ConformanceCheck(crypto: id, sentence, if: .cipher(cipher)) { provider in
            for vector in CipherVector.all(for: cipher) {
                let sealed = try provider.seal(vector.plaintext, cipher, vector.use)
                try expect(sealed.ciphertext, is: vector.sealed.ciphertext, "\(vector.source), the ciphertext")
                try expect(sealed.tag, is: vector.sealed.tag, "\(vector.source), the tag")
                try expect(
                    provider.open(vector.sealed, cipher, vector.use), is: vector.plaintext,
                    "\(vector.source), the plaintext")
            }
        }
    }

    private static func vectors(
        _ id: String, _ sentence: String, _ function: KeyDerivationFunction
    ) -> ConformanceCheck {
        ConformanceCheck(crypto: id, sentence, if: .derivation(function)) { provider in
            for vector in DerivationVector.all(for: function) {
                try expect(
                    provider.derive(vector.derivation, vector.key.count), is: vector.key, vector.source)
            }
        }
    }
}

/// Ends the check with a failure, which shows only published bytes, unless the bytes match the example.
private func expect(_ found: Data, is expected: Data, _ source: String) throws {
    guard found != expected else { return }
    let place = zip(found, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    let shown = place.map { "differ from byte \($0) on" } ?? "are \(found.count), not \(expected.count)"
    throw ConformanceFailure("\(source): the bytes \(shown); expected \(expected.prefix(16).hex)...")
}
