internal import LocalDataAPI

/// The inputs, which contain no secret, and the answers.
enum KnownAnswer {
    static let key = Array(UInt8(0)..<32)
    static let data = Array(UInt8(64)..<84)
    static let plaintext = Array(UInt8(100)..<133)

    /// The ciphertext and the tag under ``key``, with the nonce 32, 33 ... and ``data``.
    static func sealed(_ cipher: AuthenticatedCipher) -> [UInt8] {
        switch cipher {
        case .aes256GCM:
            bytes(
                0xb65f_c017_04f1_7065, 0x7611_2ca1_b169_868a, 0xa43c_9aeb_fff9_1995, 0x108b_126d_c90b_dc8a,
                0xf1f8_fd97_6600_5f06, 0xfa3a_05aa_6ff3_79d0, last: 0xdb)
        case .chaCha20Poly1305:
            bytes(
                0x1782_ee1b_7986_9651, 0xf7a8_c3a7_394e_fdcb, 0x0f1b_0845_6810_e536, 0xfa9c_43db_3c3a_5991,
                0x87ac_0992_5e6f_3211, 0x9eca_9dff_2411_c7fd, last: 0x1f)
        default:
            bytes(
                0x793c_2bac_135e_7ee0, 0x54d3_3ed2_3836_73a2, 0x4920_a74b_a7ea_7cce, 0x9d1c_2256_8fb8_6881,
                0xb5e8_163a_c594_9e88, 0x258d_4683_c8be_12d8, last: 0x0a)
        }
    }

    /// 32 bytes of ``key``: with ``data`` as the info of HKDF, or the salt 32, 33 ... 47, 2 iterations of PBKDF2 or 1
    /// pass of Argon2id over 8 KiB.
    static func derived(_ function: KeyDerivationFunction) -> [UInt8] {
        switch function {
        case .hkdfSHA256:
            bytes(0x2bf6_d8d6_25b7_1325, 0x91cc_adf5_0c08_6d30, 0x5c15_a12a_9280_fb9f, 0x58f3_fe9a_f495_6629)
        case .pbkdf2HMACSHA256:
            bytes(0x8b70_421d_2a65_6859, 0x1b6c_1c21_e30d_db40, 0x3c35_d1ef_b5b3_a495, 0xef65_f841_ad5f_cb8d)
        case .hkdfSHA512:
            bytes(0x0abb_2081_058b_8e6d, 0x6e4e_452b_5ac7_3354, 0x668f_8b18_678b_84cd, 0xcc8a_24fd_e09e_15a2)
        case .pbkdf2HMACSHA512:
            bytes(0x73c6_9bc2_0215_1483, 0x891f_ed89_7b0e_d8e3, 0xc4a3_af43_6dcd_62f8, 0x3a1b_3d96_83c4_7bc1)
        case .argon2id:
            bytes(0x3413_e8c1_b02f_e8a0, 0xe668_3a09_4203_f283, 0x1189_f38b_c7f3_56af, 0x7a12_9729_496c_17cd)
        }
    }

    /// Of the private key ``key``.
    static func publicKey(_ algorithm: SignatureAlgorithm) -> [UInt8] {
        switch algorithm {
        case .ed25519:
            bytes(0x03a1_07bf_f3ce_10be, 0x1d70_dd18_e74b_c099, 0x67e4_d630_9ba5_0d5f, 0x1ddc_8664_1255_31b8)
        }
    }

    /// Of ``plaintext`` under ``key``.
    static func signature(_ algorithm: SignatureAlgorithm) -> [UInt8] {
        switch algorithm {
        case .ed25519:
            bytes(
                0x13e4_3266_d1af_3642, 0xa9d6_21de_15ad_8504, 0x772c_03fe_57dc_63a1, 0x44b9_0c8d_9688_713e,
                0x3af3_3670_8ff6_dc1f, 0x3c4e_2072_2b6e_5fe2, 0x3c24_a6f9_3bc4_c398, 0xa07f_0f64_be4f_2903)
        }
    }

    private static func bytes(_ words: UInt64..., last: UInt8? = nil) -> [UInt8] {
        words.flatMap { word in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
        }
            + (last.map { [$0] } ?? [])
    }
}
