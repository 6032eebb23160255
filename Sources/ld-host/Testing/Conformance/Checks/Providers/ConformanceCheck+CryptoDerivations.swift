internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let cryptoDerivations: [ConformanceCheck] = [
        ConformanceCheck(
            crypto: "derive.repeats", "the same inputs give the same key, on every thread", if: .derivations
        ) { provider in
            for function in provider.derivations {
                let derivation = Derivation(function, seed: 21)
                let first = try provider.derive(derivation, 48)
                _ = try provider.derive(Derivation(function, seed: 22), 64)
                try expect(try provider.derive(derivation, 48) == first, "\(function): the second key differs")
                try Worker {
                    let again = try provider.derive(derivation, 48)
                    try expect(again == first, "\(function): another thread's key differs")
                }.join()
            }
        },
        ConformanceCheck(
            crypto: "derive.differs", "every byte of secret, salt and info, and every parameter, has an effect",
            if: .derivations
        ) { provider in
            for function in provider.derivations {
                let plain = Derivation(function, seed: 23)
                var others = [("nothing", plain)]
                for bit in plain.secret.sampledBits() {
                    others.append(("secret", plain.with { $0.secret = plain.secret.flipping(bit: bit) }))
                }
                for bit in plain.salt.sampledBits() {
                    others.append(("salt", plain.with { $0.salt = plain.salt.flipping(bit: bit) }))
                }
                others += [
                    ("secret", plain.with { $0.secret = Data() }), ("secret", plain.with { $0.secret.append(1) }),
                ]
                // Longer than any block or buffer, so that truncation shows.
                let long = plain.with { $0.secret = Pattern.data(24, 1000) }
                others += [("long secret", long), ("long secret", long.with { $0.secret[999] ^= 1 })]
                switch function {
                case .hkdfSHA256, .hkdfSHA512:
                    let wide = plain.with { ($0.salt, $0.info) = (Pattern.data(25, 1000), Pattern.data(26, 1000)) }
                    others += [
                        ("salt", plain.with { $0.salt = Data() }), ("info", plain.with { $0.info = Data() }),
                        ("info", plain.with { $0.info = plain.info.flipping(bit: 5) }),
                        ("info", plain.with { $0.info.append(0) }), ("salt and info", wide),
                        ("long salt", wide.with { $0.salt[999] ^= 1 }), ("long info", wide.with { $0.info[999] ^= 1 }),
                    ]
                case .pbkdf2HMACSHA256, .pbkdf2HMACSHA512:
                    let wide = plain.with { $0.salt = Pattern.data(25, 1000) }
                    others += [
                        ("iterations", plain.with { $0.iterations += 1 }),
                        ("iterations", plain.with { $0.iterations = 1 }),
                        ("iterations", plain.with { $0.iterations = 1000 }), ("long salt", wide),
                        ("long salt", wide.with { $0.salt[999] ^= 1 }),
                    ]
                case .argon2id:
                    others += [
                        ("passes", plain.with { $0.iterations += 1 }), ("memory", plain.with { $0.memory *= 2 }),
                    ]
                    // Parallelism changes the result; a provider without it refuses more than one lane.
                    let lanes = plain.with { $0.lanes = 2 }
                    if (try? provider.derive(lanes)) != nil { others.append(("lanes", lanes)) }
                }
                var seen: Set<Data> = []
                for (change, other) in others {
                    let isNew = seen.insert(try provider.derive(other)).inserted
                    try expect(isNew, "\(function): a change of the \(change) does not change the key")
                }
            }
        },
        ConformanceCheck(
            crypto: "derive.sizes", "exactly the requested number of bytes is derived, up to the limit",
            if: .derivations
        ) { provider in
            for function in provider.derivations {
                let derivation = Derivation(function, seed: 27)
                let sizes: [Int]
                switch function {
                case .hkdfSHA256: sizes = [1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 1000, 8159, 8160]
                case .hkdfSHA512: sizes = [1, 2, 63, 64, 65, 127, 128, 129, 1000, 16_319, 16_320]
                case .pbkdf2HMACSHA256, .pbkdf2HMACSHA512: sizes = [1, 2, 31, 32, 33, 64, 65, 1000]
                case .argon2id: sizes = [16, 17, 31, 32, 33, 64, 65, 1000]
                }
                let longest = try provider.derive(derivation, sizes.last ?? 0)
                for size in sizes {
                    let key = try provider.derive(derivation, size)
                    try expect(
                        size < 16 || Data(key.suffix(16)) != Data(repeating: 0xa5, count: 16),
                        "\(function): of \(size) bytes, the last were not written")
                    // Argon2id hashes the length first; the others continue from block to block.
                    try expect(
                        function == .argon2id || key == longest.prefix(size),
                        "\(function): \(size) bytes are not the first of \(longest.count)")
                }
                try provider.crypto.observeDerive(derivation, count: 0, into: GuardedOutput(1))
                    .refused(.unsupported, "\(function) of no bytes")
            }
            for (function, most) in [(KeyDerivationFunction.hkdfSHA256, 8160), (.hkdfSHA512, 16_320)] {
                guard provider.crypto.offers(function) else { continue }
                try provider.crypto.observeDerive(
                    Derivation(function), count: most + 1, into: GuardedOutput(most + 1)
                ).refused(.unsupported, "\(function) of \(most + 1) bytes")
            }
        },
        ConformanceCheck(
            crypto: "derive.no-work", "a passphrase derivation with no work is refused", if: .slowDerivations
        ) { provider in
            for function in provider.derivations where function.isSlow {
                try provider.crypto.observeDerive(
                    Derivation(function).with { $0.iterations = 0 }, count: 32, into: GuardedOutput(32)
                ).refused(.unsupported, "\(function) with 0 iterations")
            }
            guard provider.crypto.offers(.argon2id) else { return }
            for (name, derivation) in [
                ("0 bytes of memory", Derivation(.argon2id).with { $0.memory = 0 }),
                ("no lane", Derivation(.argon2id).with { $0.lanes = 0 }),
            ] {
                try provider.crypto.observeDerive(derivation, count: 32, into: GuardedOutput(32))
                    .refused(nil, "Argon2id with \(name)")
            }
        },
    ]
}
