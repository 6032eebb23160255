internal import CLocalData
internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let cryptoBoundary: [ConformanceCheck] = [
        ConformanceCheck(crypto: "boundary.outputs", "nothing is written beyond the end of an output") { provider in
            func expectWithin(_ outputs: GuardedOutput..., call: String) throws {
                try expect(outputs.allSatisfy(\.isWithinBounds), "\(call) wrote beyond its output")
            }
            for cipher in provider.ciphers {
                for size in [0, 1, 15, 17, 1000] {
                    var use = CipherUse(cipher, seed: 8)
                    let (ciphertext, tag) = (GuardedOutput(size), GuardedOutput(cipher.tagSize))
                    let (opened, refused) = (GuardedOutput(size), GuardedOutput(size))
                    let text = Pattern.data(8, size)
                    _ = provider.crypto.observeSeal(cipher.id, text, use, ciphertext: ciphertext, tag: tag)
                    try expectWithin(ciphertext, tag, call: "\(cipher): seal of \(size) bytes")
                    let sealed = Sealed(ciphertext: ciphertext.data, tag: tag.data)
                    _ = provider.crypto.observeOpen(cipher.id, sealed, use, plaintext: opened)
                    let forged = Sealed(ciphertext: ciphertext.data, tag: Data(count: cipher.tagSize))
                    _ = provider.crypto.observeOpen(cipher.id, forged, use, plaintext: refused)
                    try expectWithin(opened, refused, call: "\(cipher): open of \(size) bytes")
                    use.key = Data(count: 31)
                    _ = provider.crypto.observeSeal(cipher.id, text, use, ciphertext: ciphertext, tag: tag)
                    _ = provider.crypto.observeOpen(cipher.id, sealed, use, plaintext: opened)
                    try expectWithin(ciphertext, tag, opened, call: "\(cipher): a refused call")
                }
            }
            for function in provider.derivations {
                for count in [16, 31, 32, 33, 100] {
                    let key = GuardedOutput(count)
                    _ = provider.crypto.observeDerive(Derivation(function), count: count, into: key)
                    try expectWithin(key, call: "\(function) of \(count) bytes")
                }
            }
            for count in [0, 1, 7, 31, 257] {
                let bytes = GuardedOutput(count)
                _ = provider.crypto.observeRandom(count, into: bytes)
                try expectWithin(bytes, call: "\(count) random bytes")
            }
            if provider.agrees {
                let (publicKey, shared) = (GuardedOutput(32), GuardedOutput(32))
                _ = provider.crypto.observePublicKey(Pattern.data(1, 32), into: publicKey)
                _ = provider.crypto.observeAgree(Pattern.data(1, 32), AgreementVector.basePoint, into: shared)
                try expectWithin(publicKey, shared, call: "X25519")
            }
            if provider.signs {
                let (publicKey, signature) = (GuardedOutput(32), GuardedOutput(64))
                _ = provider.crypto.observeSigningPublicKey(Pattern.data(1, 32), into: publicKey)
                _ = provider.crypto.observeSign(Pattern.data(2, 77), Pattern.data(1, 32), into: signature)
                try expectWithin(publicKey, signature, call: "Ed25519")
            }
        },
        ConformanceCheck(
            crypto: "boundary.reports", "a failure is reported exactly once, and only if there is a sink"
        ) { provider in
            for (call, observe) in provider.calls() {
                let observed = observe(true)
                let expected = observed.status == LD_FAILED ? 1 : 0
                try expect(
                    observed.reports.count == expected,
                    "\(call) returned \(observed.status) with \(observed.reports.count) reports; expected \(expected)")
                let silent = observe(false)
                try expect(
                    silent.status == observed.status,
                    "\(call) returned \(observed.status) with a sink for errors and \(silent.status) without")
            }
        },
        ConformanceCheck(crypto: "boundary.unknown", "an algorithm that is not declared is refused") { provider in
            let strange: [Int32] = [0, -1, 4, 15, 21, 34, 1000, .min, .max]
            func undeclared(but known: [Int32]) -> [Int32] {
                strange
                    + [1, 2, 3, 16, 17, 18, 19, 20, 32, 33].filter {
                        !known.contains($0) || provider.crypto.algorithms[$0] == nil
                    }
            }
            for id in undeclared(but: AuthenticatedCipher.all.map(\.id)) {
                for nonceSize in [12, 24] {
                    let use = CipherUse(
                        key: Pattern.data(1, 32), nonce: Pattern.data(2, nonceSize), data: Data())
                    let sealed = Sealed(ciphertext: Data(count: 20), tag: Data(count: 16))
                    try provider.crypto.observeSeal(
                        id, Data(count: 20), use, ciphertext: GuardedOutput(20), tag: GuardedOutput(16)
                    ).refused(.unsupported, "seal with the algorithm \(id)")
                    try provider.crypto.observeOpen(id, sealed, use, plaintext: GuardedOutput(20))
                        .refused(.unsupported, "open with the algorithm \(id)")
                }
            }
            for id in undeclared(but: KeyDerivationFunction.allCases.map(\.rawValue)) {
                try provider.crypto.observeDerive(
                    Derivation(.argon2id), id: id, count: 32, into: GuardedOutput(32)
                ).refused(.unsupported, "derive with the algorithm \(id)")
            }
            for id in undeclared(but: KeyAgreement.allCases.map(\.rawValue)) {
                let key = Pattern.data(1, 32)
                try provider.crypto.observePublicKey(key, id: id, into: GuardedOutput(32))?
                    .refused(.unsupported, "public_key with the algorithm \(id)")
                try provider.crypto.observeAgree(key, AgreementVector.basePoint, id: id, into: GuardedOutput(32))?
                    .refused(.unsupported, "agree with the algorithm \(id)")
            }
            for id in undeclared(but: SignatureAlgorithm.allCases.map(\.rawValue)) {
                let key = Pattern.data(1, 32)
                try provider.crypto.observeSigningPublicKey(key, id: id, into: GuardedOutput(32))?
                    .refused(.unsupported, "the signing public_key with the algorithm \(id)")
                try provider.crypto.observeSign(key, key, id: id, into: GuardedOutput(64))?
                    .refused(.unsupported, "sign with the algorithm \(id)")
                try provider.crypto.observeVerify(key + key, key, key, id: id)?
                    .refused(.unsupported, "verify with the algorithm \(id)")
            }
        },
        ConformanceCheck(
            crypto: "boundary.abilities", "an ability always has the same table, and an unknown one has none"
        ) { provider in
            try expect(
                provider.crypto.ability(LD_CRYPTO_SIGNATURES) == provider.crypto.ability(LD_CRYPTO_SIGNATURES),
                "the ability \(LD_CRYPTO_SIGNATURES) has a different table the second time")
            for id in [
                "localdata.crypto.unknown/1", "localdata.crypto.signatures/999", "localdata.crypto.signatures/2", "",
                "x",
            ] {
                try expect(
                    provider.crypto.ability(id) == nil, "the provider claims the ability '\(id)', which does not exist")
            }
        },
        ConformanceCheck(crypto: "boundary.nothing", "an empty input may have any address") { provider in
            for address: UInt in [0, 1] {
                for cipher in provider.ciphers {
                    var use = CipherUse(cipher, seed: 1)
                    use.data = Data()
                    let expected = try provider.seal(Data(), cipher, use)
                    let found = try provider.sealNothing(cipher, use, at: address)
                    try expect(
                        found == expected.tag, "\(cipher): empty inputs at the address \(address) give a different tag")
                }
                if provider.crypto.offers(.hkdfSHA256) {
                    let derivation = Derivation(.hkdfSHA256).with {
                        $0.salt = Data()
                        $0.info = Data()
                    }
                    let key = try provider.deriveFromNothing(derivation, at: address)
                    try expect(
                        try provider.derive(derivation) == key,
                        "HKDF-SHA256: an empty salt at the address \(address) gives a different key")
                }
            }
            try provider.drawNothing()
        },
    ]
}
