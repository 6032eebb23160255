internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let cryptoAgreements: [ConformanceCheck] = [
        ConformanceCheck(
            crypto: "agree.both", "both sides get the same secret, and each pair a different one", if: .agreement
        ) { provider in
            // The last two have a common prefix, for a provider that caches results by a part of the key.
            let privateKeys =
                try (0..<3).map { Pattern.data($0, 32) } + (0..<2).map { _ in try provider.random(32) }
                + [Data(repeating: 7, count: 32), Data(repeating: 7, count: 31) + Data([8])]
            let publicKeys = try privateKeys.map(provider.publicKey)
            var secrets: Set<Data> = []
            for one in privateKeys.indices {
                for other in privateKeys.indices where other > one {
                    let secret = try provider.agree(privateKeys[one], publicKeys[other])
                    try expect(
                        try provider.agree(privateKeys[other], publicKeys[one]) == secret,
                        "the two sides get different secrets")
                    try expect(secrets.insert(secret).inserted, "two pairs of keys get the same secret")
                }
            }
        },
        ConformanceCheck(
            crypto: "agree.small-order", "a public key of small order is refused", if: .agreement
        ) { provider in
            for publicKey in AgreementVector.smallOrder {
                for seed: UInt64 in [1, 2] {
                    try provider.crypto.observeAgree(Pattern.data(seed, 32), publicKey, into: GuardedOutput(32))?
                        .refused(.securityApplicationFailed, "agree with the public key \(publicKey.hex)")
                }
            }
        },
        ConformanceCheck(crypto: "agree.sizes", "a key of any size but 32 bytes is refused", if: .agreement) {
            provider in
            let right = Pattern.data(1, 32)
            for size in [0, 1, 16, 31, 33, 64] {
                let wrong = Pattern.data(1, size)
                try provider.crypto.observePublicKey(wrong, into: GuardedOutput(64))?
                    .refused(.unsupported, "the public key of a private key of \(size) bytes")
                try provider.crypto.observeAgree(wrong, right, into: GuardedOutput(64))?
                    .refused(.unsupported, "agree with a private key of \(size) bytes")
                try provider.crypto.observeAgree(right, wrong, into: GuardedOutput(64))?
                    .refused(.unsupported, "agree with a public key of \(size) bytes")
            }
        },
    ]
}
