internal import FoundationEssentials
internal import LocalDataAPI

/// A published example of a cipher: inputs and outputs.
struct CipherVector: Sendable {
    /// The publication.
    let source: String
    let use: CipherUse
    let plaintext: Data
    let sealed: Sealed

    private init(
        _ source: String, key: Data, nonce: String, data: String, plaintext: Data, ciphertext: String, tag: String
    ) {
        self.source = source
        use = CipherUse(key: key, nonce: Data(hex: nonce), data: Data(hex: data))
        self.plaintext = plaintext
        sealed = Sealed(ciphertext: Data(hex: ciphertext), tag: Data(hex: tag))
    }

    static func all(for cipher: AuthenticatedCipher) -> [CipherVector] {
        switch cipher {
        case .aes256GCM: aes256GCM
        case .chaCha20Poly1305: chaCha20Poly1305
        case .xChaCha20Poly1305: xChaCha20Poly1305
        default: []
        }
    }

    private static let gcmKey = Data(hex: "feffe9928665731c6d6a8f9467308308 feffe9928665731c6d6a8f9467308308")
    private static let gcmText = Data(
        hex: """
            d9313225f88406e5a55909c5aff5269a 86a7a9531534f7da2e4c303d8a318a72
            1c3c0c95956809532fcf0e2449a6b525 b16aedf5aa0de657ba637b391aafd255
            """)

    /// The GCM specification that NIST SP 800-38D adopts, appendix B.
    private static let aes256GCM = [
        CipherVector(
            "GCM test case 13", key: Data(count: 32), nonce: "000000000000000000000000", data: "", plaintext: Data(),
            ciphertext: "", tag: "530f8afbc74536b9a963b4f1c4cb738b"),
        CipherVector(
            "GCM test case 14", key: Data(count: 32), nonce: "000000000000000000000000", data: "",
            plaintext: Data(count: 16), ciphertext: "cea7403d4d606b6e074ec5d3baf39d18",
            tag: "d0d1c8a799996bf0265b98b5d48ab919"),
        CipherVector(
            "GCM test case 15", key: gcmKey, nonce: "cafebabefacedbaddecaf888", data: "", plaintext: gcmText,
            ciphertext: """
                522dc1f099567d07f47f37a32a84427d 643a8cdcbfe5c0c97598a2bd2555d1aa
                8cb08e48590dbb3da7b08b1056828838 c5f61e6393ba7a0abcc9f662898015ad
                """, tag: "b094dac5d93471bdec1a502270e3cc6c"),
        CipherVector(
            "GCM test case 16", key: gcmKey, nonce: "cafebabefacedbaddecaf888",
            data: "feedfacedeadbeeffeedfacedeadbeefabaddad2", plaintext: gcmText.prefix(60),
            ciphertext: """
                522dc1f099567d07f47f37a32a84427d 643a8cdcbfe5c0c97598a2bd2555d1aa
                8cb08e48590dbb3da7b08b1056828838 c5f61e6393ba7a0abcc9f662
                """, tag: "76fc6ece0f4e1768cddf8853bb2d551b"),
    ]

    private static let sunscreen = Data(
        ("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
            + "sunscreen would be it.").utf8)
    private static let draft = Data(
        ("Internet-Drafts are draft documents valid for a maximum of six months and may be updated, replaced, or "
            + "obsoleted by other documents at any time. It is inappropriate to use Internet-Drafts as reference "
            + "material or to cite them other than as /\u{201c}work in progress./\u{201d}").utf8)

    private static let chaCha20Poly1305 = [
        CipherVector(
            "RFC 8439 section 2.8.2", key: Data(ascendingFrom: 0x80, 32), nonce: "070000004041424344454647",
            data: "50515253c0c1c2c3c4c5c6c7", plaintext: sunscreen,
            ciphertext: """
                d31a8d34648e60db7b86afbc53ef7ec2 a4aded51296e08fea9e2b5a736ee62d6
                3dbea45e8ca9671282fafb69da92728b 1a71de0a9e060b2905d6a5b67ecd3b36
                92ddbd7f2d778b8c9803aee328091b58 fab324e4fad675945585808b4831d7bc
                3ff4def08e4b7a9de576d26586cec64b 6116
                """, tag: "1ae10b594f09e26a7e902ecbd0600691"),
        CipherVector(
            "RFC 8439 appendix A.5",
            key: Data(hex: "1c9240a5eb55d38af333888604f6b5f0473917c1402b80099dca5cbc207075c0"),
            nonce: "000000000102030405060708", data: "f33388860000000000004e91", plaintext: draft,
            ciphertext: """
                64a0861575861af460f062c79be643bd 5e805cfd345cf389f108670ac76c8cb2
                4c6cfc18755d43eea09ee94e382d26b0 bdb7b73c321b0100d4f03b7f355894cf
                332f830e710b97ce98c8a84abd0b9481 14ad176e008d33bd60f982b1ff37c855
                9797a06ef4f0ef61c186324e2b350638 3606907b6a7c02b0f9f6157b53c867e4
                b9166c767b804d46a59b5216cde7a4e9 9040c5a40433225ee282a1b0a06c523e
                af4534d7f83fa1155b0047718cbc546a 0d072b04b3564eea1b422273f548271a
                0bb2316053fa76991955ebd63159434e cebb4e466dae5a1073a6727627097a10
                49e617d91d361094fa68f0ff77987130 305beaba2eda04df997b714d6c6f2c29
                a6ad5cb4022b02709b
                """, tag: "eead9d67890cbb22392336fea1851f38"),
    ]

    private static let xChaCha20Poly1305 = [
        CipherVector(
            "draft-irtf-cfrg-xchacha-03 appendix A.3.1", key: Data(ascendingFrom: 0x80, 32),
            nonce: "404142434445464748494a4b4c4d4e4f5051525354555657", data: "50515253c0c1c2c3c4c5c6c7",
            plaintext: sunscreen,
            ciphertext: """
                bd6d179d3e83d43b9576579493c0e939 572a1700252bfaccbed2902c21396cbb
                731c7f1b0b4aa6440bf3a82f4eda7e39 ae64c6708c54c216cb96b72e1213b452
                2f8c9ba40db5d945b11b69b982c1bb9e 3f3fac2bc369488f76b2383565d3fff9
                21f9664c97637da9768812f615c68b13 b52e
                """, tag: "c0875924c1c7987947deafd8780acf49")
    ]
}
