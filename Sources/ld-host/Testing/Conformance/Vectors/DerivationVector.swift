internal import FoundationEssentials
internal import LocalDataAPI

/// A published example of a derivation: inputs and output.
struct DerivationVector: Sendable {
    /// The publication.
    let source: String
    let derivation: Derivation
    let key: Data

    private init(
        _ source: String, _ function: KeyDerivationFunction, secret: Data, salt: Data, info: Data = Data(),
        iterations: UInt64 = 0, memory: UInt64 = 0, lanes: UInt32 = 0, key: String
    ) {
        self.source = source
        derivation = Derivation(function).with {
            $0.secret = secret
            $0.salt = salt
            $0.info = info
            $0.iterations = iterations
            $0.memory = memory
            $0.lanes = lanes
        }
        self.key = Data(hex: key)
    }

    static func all(for function: KeyDerivationFunction) -> [DerivationVector] {
        switch function {
        case .hkdfSHA256: hkdf
        case .pbkdf2HMACSHA256: pbkdf2
        case .argon2id: argon2id
        case .hkdfSHA512: hkdfSHA512
        case .pbkdf2HMACSHA512: pbkdf2SHA512
        }
    }

    private static let hkdf = [
        DerivationVector(
            "RFC 5869 test case 1", .hkdfSHA256, secret: Data(repeating: 0x0b, count: 22),
            salt: Data(ascendingFrom: 0, 13), info: Data(ascendingFrom: 0xf0, 10),
            key: "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"),
        DerivationVector(
            "RFC 5869 test case 2", .hkdfSHA256, secret: Data(ascendingFrom: 0, 80),
            salt: Data(ascendingFrom: 0x60, 80), info: Data(ascendingFrom: 0xb0, 80),
            key: """
                b11e398dc80327a1c8e7f78c596a4934 4f012eda2d4efad8a050cc4c19afa97c
                59045a99cac7827271cb41c65e590e09 da3275600c2f09b8367793a9aca3db71
                cc30c58179ec3e87c14c01d5c1f3434f 1d87
                """),
        DerivationVector(
            "RFC 5869 test case 3", .hkdfSHA256, secret: Data(repeating: 0x0b, count: 22), salt: Data(),
            key: "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"),
    ]

    private static let pbkdf2 = [
        DerivationVector(
            "RFC 7914 section 11, 1 iteration", .pbkdf2HMACSHA256, secret: Data("passwd".utf8), salt: Data("salt".utf8),
            iterations: 1,
            key: """
                55ac046e56e3089fec1691c22544b605 f94185216dde0465e68b9d57c20dacbc
                49ca9cccf179b645991664b39d77ef31 7c71b845b1e30bd509112041d3a19783
                """),
        DerivationVector(
            "RFC 7914 section 11, 80,000 iterations", .pbkdf2HMACSHA256, secret: Data("Password".utf8),
            salt: Data("NaCl".utf8), iterations: 80_000,
            key: """
                4ddcd8f60b98be21830cee5ef22701f9 641a4418d04c0414aeff08876b34ab56
                a1d425a1225833549adb841b51c9b317 6a272bdebba1d078478f62b397f33c8d
                """),
    ]

    /// The inputs of RFC 5869's test cases 1 to 3, which has no outputs for SHA-512; these are OpenSSL's and Python's.
    private static let hkdfSHA512 = [
        DerivationVector(
            "HKDF-SHA512 of RFC 5869's test case 1", .hkdfSHA512, secret: Data(repeating: 0x0b, count: 22),
            salt: Data(ascendingFrom: 0, 13), info: Data(ascendingFrom: 0xf0, 10),
            key: "832390086cda71fb47625bb5ceb168e4c8e26a1a16ed34d9fc7fe92c1481579338da362cb8d9f925d7cb"),
        DerivationVector(
            "HKDF-SHA512 of RFC 5869's test case 2", .hkdfSHA512, secret: Data(ascendingFrom: 0, 80),
            salt: Data(ascendingFrom: 0x60, 80), info: Data(ascendingFrom: 0xb0, 80),
            key: """
                ce6c97192805b346e6161e821ed16567 3b84f400a2b514b2fe23d84cd189ddf1
                b695b48cbd1c8388441137b3ce28f16a a64ba33ba466b24df6cfcb021ecff235
                f6a2056ce3af1de44d572097a8505d9e 7a93
                """),
        DerivationVector(
            "HKDF-SHA512 of RFC 5869's test case 3", .hkdfSHA512, secret: Data(repeating: 0x0b, count: 22),
            salt: Data(),
            key: "f5fa02b18298a72a8c23898a8703472c6eb179dc204c03425c970e3b164bf90fff22d04836d0e2343bac"),
    ]

    /// The inputs of RFC 6070, which has outputs for SHA-1 only; these are OpenSSL's and Python's.
    private static let pbkdf2SHA512 = [
        DerivationVector(
            "PBKDF2-HMAC-SHA512, 1 iteration", .pbkdf2HMACSHA512, secret: Data("password".utf8),
            salt: Data("salt".utf8),
            iterations: 1,
            key: """
                867f70cf1ade02cff3752599a3a53dc4 af34c7a669815ae5d513554e1c8cf252
                c02d470a285a0501bad999bfe943c08f 050235d7d68b1da55e63f73b60a57fce
                """),
        DerivationVector(
            "PBKDF2-HMAC-SHA512, 4,096 iterations", .pbkdf2HMACSHA512, secret: Data("password".utf8),
            salt: Data("salt".utf8), iterations: 4096,
            key: """
                d197b1b33db0143e018b12f3d1d1479e 6cdebdcc97c5c0f87f6902e072f457b5
                143f30602641b3d55cd335988cb36b84 376060ecd532e039b742a239434af2d5
                """),
    ]

    /// RFC 9106's own example has a secret key and associated data, which the ABI does not support; these outputs come
    /// from two implementations that share no code.
    private static let argon2id = [
        DerivationVector(
            "Argon2id, 1 pass over 64 KiB", .argon2id, secret: Data("password".utf8),
            salt: Data("somesaltsomesalt".utf8), iterations: 1, memory: 64 << 10, lanes: 1,
            key: "e793d64ef75d58f503d4631b2b149f7f80127c5f3993d89b1c9b781e51d0b413"),
        DerivationVector(
            "Argon2id, 3 passes over 1 MiB", .argon2id, secret: Data("password".utf8),
            salt: Data("somesaltsomesalt".utf8), iterations: 3, memory: 1 << 20, lanes: 1,
            key: "f663220e2d954b93588ebcbcdbe308ae6b2dbb62d317b6d6feff63535b6e3a6e"),
        DerivationVector(
            "Argon2id, no secret, 2 passes over 256 KiB, 100 bytes", .argon2id, secret: Data(),
            salt: Data(ascendingFrom: 0, 16), iterations: 2, memory: 256 << 10, lanes: 1,
            key: """
                be080718323b9e10df9e1e8f749e3732 7b5d9efc8f77e625f6644e4ebfe6604a
                35adaf5ca69e4f84cd9fd019cae8b3f6 9d75bc35f63b20d0042d92f415cb04b1
                ab922fc7d96076be170949427b6a4977 6690c98a9e3ab01a25e880647fdc20e8
                2db0b953
                """),
    ]
}
