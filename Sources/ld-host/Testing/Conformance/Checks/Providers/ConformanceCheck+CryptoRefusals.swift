internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let cryptoRefusals: [ConformanceCheck] = [
        ConformanceCheck(crypto: "cipher.tag", "a tag with any bit changed does not open", if: .ciphers) {
            provider in
            for cipher in provider.ciphers {
                for size in [0, 50] {
                    let use = CipherUse(cipher, seed: 3)
                    let sealed = try provider.seal(Pattern.data(3, size), cipher, use)
                    for bit in 0..<cipher.tagSize * 8 {
                        let forged = Sealed(ciphertext: sealed.ciphertext, tag: sealed.tag.flipping(bit: bit))
                        try provider.refuses(forged, cipher, use, "the tag of \(size) bytes, bit \(bit) changed")
                    }
                }
            }
        },
        ConformanceCheck(
            crypto: "cipher.altered", "nothing opens after its ciphertext, data, nonce or key was changed", if: .ciphers
        ) { provider in
            for cipher in provider.ciphers {
                let use = CipherUse(cipher, seed: 4, dataSize: 200)
                let sealed = try provider.seal(Pattern.data(4, 1000), cipher, use)
                for bit in sealed.ciphertext.sampledBits(40) {
                    let forged = Sealed(ciphertext: sealed.ciphertext.flipping(bit: bit), tag: sealed.tag)
                    try provider.refuses(forged, cipher, use, "the ciphertext, bit \(bit) changed")
                }
                for (name, part) in [("data", \CipherUse.data), ("nonce", \.nonce), ("key", \.key)] {
                    for bit in use[keyPath: part].sampledBits(40) {
                        var other = use
                        other[keyPath: part] = use[keyPath: part].flipping(bit: bit)
                        try provider.refuses(sealed, cipher, other, "the \(name), bit \(bit) changed")
                    }
                }
                for (name, data) in [
                    ("none", Data()), ("less", use.data.dropLast()), ("more", use.data + Data([0])),
                ] {
                    var other = use
                    other.data = Data(data)
                    try provider.refuses(sealed, cipher, other, "\(name) of the data")
                }
                for (name, ciphertext) in [
                    ("none", Data()), ("less", sealed.ciphertext.dropLast()), ("more", sealed.ciphertext + Data([0])),
                    ("the end", sealed.ciphertext.dropFirst()),
                ] {
                    let forged = Sealed(ciphertext: Data(ciphertext), tag: sealed.tag)
                    try provider.refuses(forged, cipher, use, "\(name) of the ciphertext")
                }
                try expect(
                    try provider.open(sealed, cipher, use) == Pattern.data(4, 1000),
                    "\(cipher): a sealed text does not open after forgeries of it were refused")
            }
        },
        ConformanceCheck(crypto: "cipher.zeros", "after a wrong tag, the output has only zeros", if: .ciphers) {
            provider in
            for cipher in provider.ciphers {
                for size in [1, 16, 100, 4096, 70_000, 1 << 20] {
                    let use = CipherUse(cipher, seed: 5)
                    let sealed = try provider.seal(Pattern.data(5, size), cipher, use)
                    for forged in [
                        Sealed(ciphertext: sealed.ciphertext, tag: sealed.tag.flipping(bit: 0)),
                        Sealed(ciphertext: sealed.ciphertext.flipping(bit: size * 8 - 1), tag: sealed.tag),
                    ] {
                        let output = GuardedOutput(size)
                        _ = provider.crypto.observeOpen(cipher.id, forged, use, plaintext: output)
                        try expect(
                            output.isZero, "\(cipher): a wrong tag over \(size) bytes left bytes other than zeros")
                    }
                }
            }
        },
        ConformanceCheck(
            crypto: "cipher.one-text", "the error for a wrong tag is the same for every key and text", if: .ciphers
        ) { provider in
            for cipher in provider.ciphers {
                var told: Set<String> = []
                for (seed, size) in [(1, 0), (2, 1), (3, 33), (4, 5000)] as [(UInt64, Int)] {
                    let use = CipherUse(cipher, seed: seed, dataSize: size)
                    let sealed = try provider.seal(Pattern.data(seed, size), cipher, use)
                    for bit in [0, 60, 127] {
                        let forged = Sealed(ciphertext: sealed.ciphertext, tag: sealed.tag.flipping(bit: bit))
                        let observed = provider.crypto.observeOpen(
                            cipher.id, forged, use, plaintext: GuardedOutput(size))
                        told.formUnion(observed.reports.map { "\($0.code.rawValue) \($0)" })
                    }
                }
                try expect(
                    told.count <= 1, "\(cipher): a wrong tag has \(told.count) different error texts: \(told.sorted())")
            }
        },
        ConformanceCheck(
            crypto: "cipher.sizes", "a key, nonce or tag of the wrong size is refused, not padded or cut",
            if: .ciphers
        ) { provider in
            for cipher in provider.ciphers {
                let right = CipherUse(cipher, seed: 6)
                let sealed = try provider.seal(Pattern.data(6, 50), cipher, right)
                for (name, part, size) in [
                    ("key", \CipherUse.key, cipher.keySize), ("nonce", \.nonce, cipher.nonceSize),
                ] {
                    for wrong in [0, 1, 8, 12, 16, 24, size - 1, size + 1, 2 * size, 1000] where wrong != size {
                        var use = right
                        use[keyPath: part] = (right[keyPath: part] + Data(count: 1000)).prefix(wrong)
                        try provider.crypto.observeSeal(
                            cipher.id, Data(count: 50), use, ciphertext: GuardedOutput(50), tag: GuardedOutput(1000)
                        ).refused(.unsupported, "\(cipher): seal with a \(name) of \(wrong) bytes")
                        try provider.crypto.observeOpen(cipher.id, sealed, use, plaintext: GuardedOutput(50))
                            .refused(.unsupported, "\(cipher): open with a \(name) of \(wrong) bytes")
                    }
                }
                for wrong in [0, 1, 4, 8, 12, 15, 17, 32] {
                    let cut = Sealed(
                        ciphertext: sealed.ciphertext, tag: Data((sealed.tag + Data(count: 32)).prefix(wrong)))
                    try provider.crypto.observeOpen(cipher.id, cut, right, plaintext: GuardedOutput(50))
                        .refused(.unsupported, "\(cipher): open with a tag of \(wrong) bytes")
                }
            }
        },
        ConformanceCheck(
            crypto: "cipher.goes-on", "after a wrong tag or a refused size, everything works as before", if: .ciphers
        ) { provider in
            for cipher in provider.ciphers {
                let use = CipherUse(cipher, seed: 7)
                let text = Pattern.data(7, 500)
                let sealed = try provider.seal(text, cipher, use)
                var wrong = use
                wrong.key = Data(count: 5)
                let refusals: [() throws -> Void] = [
                    {
                        let forged = Sealed(ciphertext: sealed.ciphertext, tag: Data(count: cipher.tagSize))
                        try provider.refuses(forged, cipher, use, "a tag of zeros")
                    },
                    { _ = try? provider.seal(text, cipher, wrong) },
                    { _ = try? provider.open(sealed, cipher, wrong) },
                ]
                for refusal in refusals {
                    try refusal()
                    try expect(
                        try provider.seal(text, cipher, use) == sealed,
                        "\(cipher): after a refusal it seals differently")
                    try refusal()
                    try expect(
                        try provider.open(sealed, cipher, use) == text,
                        "\(cipher): after a refusal it opens differently")
                }
            }
        },
    ]
}

extension ProviderUnderTest {
    /// Ends the check with a failure if the provider opens it.
    func refuses(
        _ sealed: Sealed, _ cipher: AuthenticatedCipher, _ use: CipherUse, _ what: @autoclosure () -> String
    ) throws {
        try crypto.observeOpen(
            cipher.id, sealed, use, plaintext: GuardedOutput(sealed.ciphertext.count)
        ).refused(.cannotOpen, "\(cipher): open with \(what())")
    }
}
