internal import CLocalData
internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let cryptoCiphers: [ConformanceCheck] = [
        ConformanceCheck(
            crypto: "cipher.roundtrip", "open returns what was sealed, from 0 bytes to 1 MiB and a byte", if: .ciphers
        ) { provider in
            let sizes = [
                0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 4095, 4096, 4097,
                16_383, 16_384, 65_535, 65_536, 65_537, 1 << 20, 1 << 20 + 1,
            ]
            for cipher in provider.ciphers {
                let largest = provider.crypto.algorithms[cipher.id]?.largest ?? 0
                for (index, size) in sizes.enumerated() where largest == 0 || size <= largest {
                    let text = Pattern.data(UInt64(size), size)
                    let use = CipherUse(cipher, seed: UInt64(index), dataSize: sizes[(index * 7) % 22])
                    let sealed = try provider.seal(text, cipher, use)
                    try expect(
                        size < 16 || sealed.ciphertext != text, "\(cipher): \(size) bytes were not encrypted at all")
                    try expect(
                        try provider.open(sealed, cipher, use) == text,
                        "\(cipher): \(size) bytes with \(use.data.count) of data were changed by a round trip")
                }
            }
        },
        ConformanceCheck(
            crypto: "cipher.differs", "a different key or nonce gives a different ciphertext and tag",
            if: .ciphers
        ) { provider in
            let text = Pattern.data(1, 77)
            for cipher in provider.ciphers {
                let use = CipherUse(cipher, seed: 1)
                var seen = [try provider.seal(text, cipher, use)]
                var others: [CipherUse] = []
                for bit in use.key.sampledBits() {
                    var other = use
                    other.key = use.key.flipping(bit: bit)
                    others.append(other)
                }
                for bit in use.nonce.sampledBits() {
                    var other = use
                    other.nonce = use.nonce.flipping(bit: bit)
                    others.append(other)
                }
                for other in others {
                    let sealed = try provider.seal(text, cipher, other)
                    try expect(
                        seen.allSatisfy { $0.ciphertext != sealed.ciphertext && $0.tag != sealed.tag },
                        "\(cipher): two keys or nonces that differ in one bit give the same ciphertext or tag")
                    seen.append(sealed)
                }
            }
        },
        ConformanceCheck(
            crypto: "cipher.repeats", "the same key and nonce give the same ciphertext and tag, on every thread",
            if: .ciphers
        ) { provider in
            for cipher in provider.ciphers {
                let use = CipherUse(cipher, seed: 9)
                let text = Pattern.data(9, 99)
                let first = try provider.seal(text, cipher, use)
                // Earlier work of a thread must not affect its next result.
                _ = try provider.seal(Pattern.data(2, 500), cipher, CipherUse(cipher, seed: 2, dataSize: 0))
                try expect(
                    try provider.seal(text, cipher, use) == first, "\(cipher): sealing twice gives different results")
                try Worker {
                    let again = try provider.seal(text, cipher, use)
                    try expect(again == first, "\(cipher): sealing on two threads gives different results")
                }.join()
            }
        },
        ConformanceCheck(
            crypto: "threads.at-once", "eight threads at the same time compute what one computes",
            if: .ciphers, .derivation(.hkdfSHA256)
        ) { provider in
            try Worker.run(8) { thread in
                let seed = UInt64(thread + 100)
                let derivation = Derivation(.hkdfSHA256, seed: seed)
                let key = try provider.derive(derivation)
                for round in 0..<20 {
                    try expect(
                        try provider.derive(derivation) == key,
                        "HKDF-SHA256 gave a different key while other threads derived theirs")
                    for cipher in provider.ciphers {
                        let text = Pattern.data(seed, 300 + round * 50)
                        let use = CipherUse(cipher, seed: seed &+ UInt64(round * 1000))
                        let sealed = try provider.seal(text, cipher, use)
                        let again = try provider.seal(text, cipher, use)
                        try expect(
                            try again == sealed && provider.open(sealed, cipher, use) == text,
                            "\(cipher): one thread's text was changed by a round trip while others worked")
                    }
                }
            }
        },
    ]
}
