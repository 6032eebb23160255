internal import FoundationEssentials

/// The examples of RFC 7748 for X25519.
enum AgreementVector {
    /// Section 5.2: private key, public key, shared secret. The second public key has the bit set that must be ignored.
    static let products = [
        (
            Data(hex: "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"),
            Data(hex: "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"),
            Data(hex: "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552")
        ),
        (
            Data(hex: "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d"),
            Data(hex: "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493"),
            Data(hex: "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957")
        ),
    ]

    /// Section 5.2: the base point, and the result of 1,000 rounds in which the last result is the private key and the
    /// one before it the public key.
    static let basePoint = Data([9] + [UInt8](repeating: 0, count: 31))
    static let rounds = (count: 1000, Data(hex: "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"))

    /// Section 6.1: private and public keys of two sides, and their secret.
    static let sides = [
        (
            Data(hex: "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"),
            Data(hex: "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
        ),
        (
            Data(hex: "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"),
            Data(hex: "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
        ),
    ]
    static let secret = Data(hex: "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")

    /// Public keys of small order, which give a secret of zeros with every private key: 0, 1, the two points of order
    /// 8, and p - 1, p and p + 1, each with the ignored bit clear and set.
    static let smallOrder: [Data] = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ].flatMap { [Data(hex: $0), Data(hex: $0).flipping(bit: 255)] }
}
