internal import CLocalData
internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let cryptoOpening = "lifecycle.open"

    static let cryptoLifecycle: [ConformanceCheck] = [
        ConformanceCheck(crypto: cryptoOpening, "the provider opens with its options") { provider in
            try expect(!provider.crypto.algorithms.isEmpty, "the provider declares no algorithm")
        },
        ConformanceCheck(crypto: "lifecycle.options", "every option has a unique name and a line of help") {
            provider in
            try provider.subject.expectTidyOptions()
        },
        ConformanceCheck(
            crypto: "lifecycle.again", "a provider can be open twice, and closing one leaves the other open"
        ) { provider in
            let second = try provider.another()
            second.end()
            _ = try provider.random(32)
            for cipher in provider.ciphers {
                let use = CipherUse(cipher, seed: 1)
                let third = try provider.another()
                let sealed = try third.seal(Pattern.data(1, 100), cipher, use)
                third.end()
                try expect(
                    try provider.open(sealed, cipher, use) == Pattern.data(1, 100),
                    "\(cipher): one provider does not open what another sealed")
            }
        },
        ConformanceCheck(crypto: "declares.needed", "a provider declares HKDF-SHA256 and a cipher") { provider in
            try expect(
                provider.crypto.offers(.hkdfSHA256),
                "it does not declare HKDF-SHA256, which the host derives subkeys with")
            try expect(!provider.ciphers.isEmpty, "it declares no cipher that this host knows")
        },
        ConformanceCheck(crypto: "declares.sizes", "sizes and limits are those of the standards") { provider in
            for cipher in provider.ciphers {
                let largest = provider.crypto.algorithms[cipher.id]?.largest ?? 0
                try expect(
                    largest <= cipher.largestPlaintext,
                    "\(cipher) declares at most \(largest) bytes of plaintext; the standard says "
                        + "\(cipher.largestPlaintext)")
            }
            if provider.crypto.offers(.hkdfSHA256) {
                let largest = provider.crypto.algorithms[KeyDerivationFunction.hkdfSHA256.rawValue]?.largest ?? 0
                try expect(
                    largest == 8160, "HKDF-SHA256 declares at most \(largest) bytes of output; the standard says 8160")
            }
            if let size = provider.crypto.algorithms[KeyAgreement.x25519.rawValue]?.key_size {
                try expect(size == 32, "X25519 declares keys of \(size) bytes; the standard says 32")
            }
            if let size = provider.crypto.algorithms[SignatureAlgorithm.ed25519.rawValue]?.key_size {
                try expect(size == 32, "Ed25519 declares keys of \(size) bytes; the standard says 32")
            }
        },
        ConformanceCheck(
            crypto: "declares.signatures",
            "a provider declares signature algorithms if and only if it has the ability for them"
        ) { provider in
            try expect(
                !provider.signs || provider.crypto.signatures != nil,
                "Ed25519 is declared, and the ability \(LD_CRYPTO_SIGNATURES) is missing or has no functions")
            try expect(
                provider.signs || provider.crypto.ability(LD_CRYPTO_SIGNATURES) == nil,
                "the ability \(LD_CRYPTO_SIGNATURES) exists, but no signature is declared for it")
        },
    ]
}
