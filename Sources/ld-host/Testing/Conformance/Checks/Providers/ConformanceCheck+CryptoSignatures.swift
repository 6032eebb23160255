internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let cryptoSignatures: [ConformanceCheck] = [
        ConformanceCheck(
            crypto: "sign.both", "what a key signs verifies with its public key, and with no other", if: .signatures
        ) { provider in
            // The last two have a common prefix, for a provider that caches results by a part of the key.
            let random = try provider.random(32)
            let privateKeys =
                (0..<3).map { Pattern.data(UInt64($0), 32) }
                + [random, Data(repeating: 7, count: 32), Data(repeating: 7, count: 31) + Data([8])]
            let publicKeys = try privateKeys.map(provider.signingPublicKey)
            let message = Pattern.data(9, 50)
            for (index, privateKey) in privateKeys.enumerated() {
                let signature = try provider.sign(message, privateKey)
                for (other, publicKey) in publicKeys.enumerated() {
                    guard index != other else {
                        try provider.verify(signature, message, publicKey, "a signature with its own public key")
                        continue
                    }
                    try provider.refuses(signature, message, publicKey, "a signature with another public key")
                }
            }
        },
        ConformanceCheck(
            crypto: "sign.repeats", "the same key and message always give the same signature", if: .signatures
        ) { provider in
            for size in [0, 1, 66, 1000] {
                let (key, message) = (Pattern.data(20, 32), Pattern.data(21, size))
                let signature = try provider.sign(message, key)
                for _ in 0..<5 {
                    try expect(
                        try provider.sign(message, key) == signature, "\(size) bytes have a second signature")
                }
            }
        },
        ConformanceCheck(
            crypto: "sign.altered", "after a change of signature, message or public key nothing verifies",
            if: .signatures
        ) { provider in
            let key = Pattern.data(22, 32)
            let publicKey = try provider.signingPublicKey(key)
            for size in [0, 40, 5000] {
                let message = Pattern.data(23, size)
                let signature = try provider.sign(message, key)
                for bit in 0..<512 {
                    try provider.refuses(
                        signature.flipping(bit: bit), message, publicKey, "\(size) bytes, bit \(bit) of the signature")
                }
                for bit in 0..<256 {
                    try provider.refuses(
                        signature, message, publicKey.flipping(bit: bit), "\(size) bytes, bit \(bit) of the public key")
                }
                for bit in message.sampledBits(40) {
                    try provider.refuses(
                        signature, message.flipping(bit: bit), publicKey, "bit \(bit) of \(size) bytes changed")
                }
                try provider.refuses(signature, message + Data([0]), publicKey, "one byte more than \(size)")
                try provider.verify(signature, message, publicKey, "\(size) bytes, after forgeries were refused")
            }
        },
        ConformanceCheck(
            crypto: "sign.strict",
            "keys and signatures on which implementations disagree are accepted or refused as the protocol requires",
            if: .signatures
        ) { provider in
            for vector in SignatureVector.disputed {
                if vector.isRight {
                    try provider.verify(vector.signature, vector.message, vector.publicKey, vector.source)
                } else {
                    try provider.refuses(vector.signature, vector.message, vector.publicKey, vector.source)
                }
            }
        },
        ConformanceCheck(
            crypto: "sign.one-text", "the error for a wrong signature is the same for every key and message",
            if: .signatures
        ) { provider in
            var told: Set<String> = []
            for (seed, size) in [(1, 0), (2, 50), (3, 3000)] as [(UInt64, Int)] {
                let observed = provider.crypto.observeVerify(
                    Pattern.data(seed, 64), Pattern.data(seed, size), Pattern.data(seed, 32))
                told.formUnion(observed?.reports.map { "\($0.code.rawValue) \($0)" } ?? [])
            }
            try expect(told.count <= 1, "a wrong signature has \(told.count) different error texts: \(told.sorted())")
        },
        ConformanceCheck(
            crypto: "sign.sizes", "a key or signature of the wrong size is refused, not padded or cut", if: .signatures
        ) { provider in
            let (key, message) = (Pattern.data(24, 32), Pattern.data(25, 30))
            let publicKey = try provider.signingPublicKey(key)
            let signature = try provider.sign(message, key)
            for size in [0, 1, 31, 33, 64] {
                try provider.crypto.observeSigningPublicKey(sized(key, size), into: GuardedOutput(64))?
                    .refused(.unsupported, "the public key of a signing key of \(size) bytes")
                try provider.crypto.observeSign(message, sized(key, size), into: GuardedOutput(64))?
                    .refused(.unsupported, "sign with a key of \(size) bytes")
                try provider.crypto.observeVerify(signature, message, sized(publicKey, size))?
                    .refused(.unsupported, "verify with a public key of \(size) bytes")
            }
            for size in [0, 32, 63, 65, 128] {
                try provider.crypto.observeVerify(sized(signature, size), message, publicKey)?
                    .refused(.unsupported, "verify of a signature of \(size) bytes")
            }
        },
    ]

    private static func sized(_ data: Data, _ size: Int) -> Data { Data((data + Data(count: 128)).prefix(size)) }
}

extension ProviderUnderTest {
    /// Ends the check with a failure if the provider accepts the signature.
    fileprivate func refuses(
        _ signature: Data, _ message: Data, _ publicKey: Data, _ what: @autoclosure () -> String
    ) throws { try crypto.observeVerify(signature, message, publicKey)?.refused(.cannotOpen, "verify of \(what())") }
}
