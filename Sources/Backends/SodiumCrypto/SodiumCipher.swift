internal import CSodium
internal import LocalDataPluginAPI

/// libsodium's detached calls for one cipher, key, nonce and data. They return 0 on success.
struct SodiumCipher {
    private let cipher: AuthenticatedCipher
    private let key: UnsafeRawBufferPointer
    private let nonce: UnsafeRawBufferPointer
    private let data: UnsafeRawBufferPointer

    init(
        _ cipher: AuthenticatedCipher, key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer,
        data: UnsafeRawBufferPointer
    ) {
        self.cipher = cipher
        self.key = key
        self.nonce = nonce
        self.data = data
    }

    static func wrongTag(_ cipher: AuthenticatedCipher) -> StorageError {
        StorageError(.cannotOpen, "\(cipher): the tag does not match key, nonce, data and ciphertext")
    }

    func seal(
        _ plaintext: UnsafeRawBufferPointer, into ciphertext: UnsafeMutableRawBufferPointer,
        tag: UnsafeMutableRawBufferPointer
    ) -> Int32 {
        let (output, input) = (ciphertext.bytePointer, plaintext.bytePointer)
        let (count, dataCount) = (UInt64(plaintext.count), UInt64(data.count))
        switch cipher {
        case .chaCha20Poly1305:
            return crypto_aead_chacha20poly1305_ietf_encrypt_detached(
                output, tag.bytePointer, nil, input, count, data.bytePointer, dataCount, nil, nonce.bytePointer,
                key.bytePointer)
        case .xChaCha20Poly1305:
            return crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
                output, tag.bytePointer, nil, input, count, data.bytePointer, dataCount, nil, nonce.bytePointer,
                key.bytePointer)
        default:
            return withSchedule {
                crypto_aead_aes256gcm_encrypt_detached_afternm(
                    output, tag.bytePointer, nil, input, count, data.bytePointer, dataCount, nil, nonce.bytePointer,
                    $0)
            }
        }
    }

    func open(
        _ ciphertext: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer, into plaintext: UnsafeMutableRawBufferPointer
    ) -> Int32 {
        let (output, input) = (plaintext.bytePointer, ciphertext.bytePointer)
        let (count, dataCount) = (UInt64(ciphertext.count), UInt64(data.count))
        switch cipher {
        case .chaCha20Poly1305:
            return crypto_aead_chacha20poly1305_ietf_decrypt_detached(
                output, nil, input, count, tag.bytePointer, data.bytePointer, dataCount, nonce.bytePointer,
                key.bytePointer)
        case .xChaCha20Poly1305:
            return crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
                output, nil, input, count, tag.bytePointer, data.bytePointer, dataCount, nonce.bytePointer,
                key.bytePointer)
        default:
            return withSchedule {
                crypto_aead_aes256gcm_decrypt_detached_afternm(
                    output, nil, input, count, tag.bytePointer, data.bytePointer, dataCount, nonce.bytePointer, $0)
            }
        }
    }

    /// Expands the key of AES-256-GCM for the duration of `body`. libsodium's calls that do it themselves leave the
    /// schedule on the stack; those used here leave parts of it below, which are overwritten too.
    private func withSchedule(_ body: (UnsafePointer<crypto_aead_aes256gcm_state>) -> Int32) -> Int32 {
        withUnsafeTemporaryAllocation(of: crypto_aead_aes256gcm_state.self, capacity: 1) { memory in
            guard let schedule = memory.baseAddress else { return -1 }
            defer {
                sodium_memzero(schedule, MemoryLayout<crypto_aead_aes256gcm_state>.size)
                sodium_stackzero(4096)
            }
            guard crypto_aead_aes256gcm_beforenm(schedule, key.bytePointer) == 0 else { return -1 }
            return body(schedule)
        }
    }
}
