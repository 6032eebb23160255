internal import FoundationEssentials

/// An Ed25519 signature.
struct SignatureVector: Sendable {
    /// What it is an example of.
    let source: String
    let privateKey: Data
    let publicKey: Data
    let message: Data
    let signature: Data
    let isRight: Bool

    private init(
        _ source: String, privateKey: String = "", publicKey: String, message: Data, signature: String,
        isRight: Bool = true
    ) {
        self.source = source
        self.privateKey = Data(hex: privateKey)
        self.publicKey = Data(hex: publicKey)
        self.message = message
        self.signature = Data(hex: signature)
        self.isRight = isRight
    }

    /// The examples of RFC 8032.
    static let standard = [
        SignatureVector(
            "RFC 8032 section 7.1, test 1",
            privateKey: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            message: Data(hex: ""),
            signature: "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"),
        SignatureVector(
            "RFC 8032 section 7.1, test 2",
            privateKey: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            message: Data(hex: "72"),
            signature: "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"),
        SignatureVector(
            "RFC 8032 section 7.1, test 3",
            privateKey: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            message: Data(hex: "af82"),
            signature: "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"),
        SignatureVector(
            "RFC 8032 section 7.1, test SHA(abc)",
            privateKey: "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
            publicKey: "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
            message: Data(
                hex: "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                    + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"),
            signature: "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589"
                + "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704"),
    ]

    /// Signatures about which implementations of RFC 8032 disagree, made by a program that computes with whole numbers
    /// only.
    static let disputed = [
        SignatureVector(
            "a public key with a part of small order, where the equation holds",
            publicKey: "b154bd62188ae283dd187fefe8c31f5e276edf083b4cff11c9d5cff856c74440",
            message: Data("message 0".utf8),
            signature: "a8e88080d62c2b20a57cb289e965a0a54fa155042695e5c7c18e72230b7fff03"
                + "f0337263d48442379e4a1e57c356d70ec7ef56fd42d867a44e01616d1b141f0d", isRight: true),
        SignatureVector(
            "a public key with a part of small order, where the equation needs the cofactor",
            publicKey: "b154bd62188ae283dd187fefe8c31f5e276edf083b4cff11c9d5cff856c74440",
            message: Data("message 3".utf8),
            signature: "e45d7c0766c7ec50a7180aa2785f686282e9435a0bfd0fada72c4a5f69755ab9"
                + "90311a2acddae9d6de4c60cc1eb402cdaa86f5074f09141cb926b41433663c04", isRight: false),
        SignatureVector(
            "R with a part of small order, where the equation needs the cofactor",
            publicKey: "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8",
            message: Data("message 0".utf8),
            signature: "d62fe76ef284d4db921b9909fb7a1842efbfe1ce0856d5a12547b854927097c1"
                + "b71ccf251b682f172c9adc43201eae583b8d38ab72a7b8c2c03c59e2bc4b8e0a", isRight: false),
        SignatureVector(
            "R of order 1",
            publicKey: "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8",
            message: Data("message".utf8),
            signature: "0100000000000000000000000000000000000000000000000000000000000000"
                + "e404f4e96e0b12dc6c3ec416ed1d5e91b66a37ca15a8b36c06938736133a2d0c", isRight: false),
        SignatureVector(
            "a public key of order 8",
            publicKey: "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            message: Data("message 23".utf8),
            signature: "6774169cd2771ad2497b23df4daaf014c1c01b4356ec3c4efd6e8e561892ad74"
                + "5030000000000000000000000000000000000000000000000000000000000000", isRight: false),
        SignatureVector(
            "a public key of order 1",
            publicKey: "0100000000000000000000000000000000000000000000000000000000000000",
            message: Data("message".utf8),
            signature: "1d84c09c915b1e355f4130b3950f6754270b37696f36f1b6ca5d4a9b4cf48860"
                + "0903000000000000000000000000000000000000000000000000000000000000", isRight: false),
        SignatureVector(
            "a public key of order 1 in its other encoding",
            publicKey: "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            message: Data("message".utf8),
            signature: "1d84c09c915b1e355f4130b3950f6754270b37696f36f1b6ca5d4a9b4cf48860"
                + "0903000000000000000000000000000000000000000000000000000000000000", isRight: false),
        SignatureVector(
            "a public key of order 1 with the sign of x set",
            publicKey: "0100000000000000000000000000000000000000000000000000000000000080",
            message: Data("message".utf8),
            signature: "1d84c09c915b1e355f4130b3950f6754270b37696f36f1b6ca5d4a9b4cf48860"
                + "0903000000000000000000000000000000000000000000000000000000000000", isRight: false),
        SignatureVector(
            "S in range",
            publicKey: "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8",
            message: Data("message".utf8),
            signature: "7bc0ea578290c8dcf6fc8a6e134a7f3e794ddd7e8922108bccd6202f95de532b"
                + "92c2298dc8e161ac2b5e3653f92c5b0e12adf26b3d46e7bd2057715f25d3e205", isRight: true),
        SignatureVector(
            "S that is the order larger",
            publicKey: "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8",
            message: Data("message".utf8),
            signature: "7bc0ea578290c8dcf6fc8a6e134a7f3e794ddd7e8922108bccd6202f95de532b"
                + "7f961feae244740402fb2df6d7263a2312adf26b3d46e7bd2057715f25d3e215", isRight: false),
    ]
}
