internal import CSodium
internal import LocalDataPluginAPI

/// Argon2id, RFC 9106, within libsodium's limits: one lane, salts of 16 bytes, whole KiB of memory.
struct Argon2id {
    private let passes: UInt64
    private let memory: Int

    /// - Throws: `unsupported` with the parameter and the limits.
    init(passes: UInt64, memory: UInt64, lanes: UInt32) throws(StorageError) {
        func refused(_ what: String, _ limits: String, found: UInt64) -> StorageError {
            StorageError(.unsupported, "libsodium's Argon2id accepts \(limits) \(what); found \(found)")
        }
        guard lanes == 1 else { throw refused("lane", "exactly 1", found: UInt64(lanes)) }
        let allowed = UInt64(crypto_pwhash_argon2id_OPSLIMIT_MIN)...UInt64(crypto_pwhash_argon2id_OPSLIMIT_MAX)
        guard allowed.contains(passes) else {
            throw refused("passes", "\(allowed.lowerBound) to \(allowed.upperBound)", found: passes)
        }
        let least = UInt64(crypto_pwhash_argon2id_memlimit_min())
        let most = UInt64(crypto_pwhash_argon2id_memlimit_max())
        guard (least...most).contains(memory), memory % 1024 == 0 else {
            throw refused("bytes of memory, a multiple of 1024", "\(least) to \(most)", found: memory)
        }
        self.passes = passes
        self.memory = Int(memory)
    }

    /// - Throws: `unsupported` for a salt or an output size that libsodium does not support, or if there is not enough
    ///   memory.
    func derive(from passphrase: RawSpan, salt: RawSpan, into key: inout MutableRawSpan) throws(StorageError) {
        guard salt.byteCount == Int(crypto_pwhash_argon2id_SALTBYTES) else {
            throw StorageError(
                .unsupported,
                "libsodium's Argon2id accepts a salt of \(crypto_pwhash_argon2id_SALTBYTES) bytes; "
                    + "found \(salt.byteCount)")
        }
        let outputs = crypto_pwhash_argon2id_bytes_min()...crypto_pwhash_argon2id_bytes_max()
        guard outputs.contains(key.byteCount), passphrase.byteCount <= crypto_pwhash_argon2id_passwd_max() else {
            throw StorageError(
                .unsupported,
                "libsodium's Argon2id derives \(outputs.lowerBound) to \(outputs.upperBound) bytes "
                    + "from at most \(crypto_pwhash_argon2id_passwd_max()); found \(key.byteCount) "
                    + "from \(passphrase.byteCount)")
        }
        let status = key.withUnsafeMutableBytes { key in
            passphrase.withUnsafeBytes { passphrase in
                salt.withUnsafeBytes { salt in
                    crypto_pwhash_argon2id(
                        key.bytePointer, UInt64(key.count),
                        UnsafeRawPointer(passphrase.bytePointer).assumingMemoryBound(to: CChar.self),
                        UInt64(passphrase.count), salt.bytePointer, passes, memory,
                        crypto_pwhash_argon2id_ALG_ARGON2ID13)
                }
            }
        }
        // The function leaves the key on the stack.
        sodium_stackzero(16_384)
        guard status == 0 else {
            throw StorageError(
                .unsupported, "libsodium's Argon2id failed, as it does without \(memory) bytes of free memory",
                hint: "free memory, or choose parameters that need less for new values")
        }
    }
}
