internal import FoundationEssentials
internal import HostGround
package import LocalDataAPI

/// The cryptography of a sync group, over one crypto provider: HKDF-SHA256, Ed25519, X25519, and an authenticated
/// cipher.
///
/// Every use has a ``GroupLabel`` of its own, so that bytes made for one purpose are never taken for another's.
package struct GroupCrypto: Sendable {
    /// The size of hashes, keys, salts and public keys in bytes.
    package static let size = 32
    /// The size of a signature in bytes.
    static let signatureSize = 64

    /// Fills memory with random bytes.
    package typealias RandomSource = @Sendable (UnsafeMutableRawBufferPointer) throws(StorageError) -> Void

    private let provider: any GroupProvider
    /// Where random bytes come from; `nil` for the provider.
    private let randomSource: RandomSource?
    /// What new boxes are sealed with. Others' are opened with the cipher that they name.
    private let cipher: AuthenticatedCipher

    /// Checks that the provider has what groups need.
    ///
    /// - Parameter random: Where random bytes come from; `nil` for the provider. Another source makes a simulation
    ///   repeatable, and its keys worthless.
    /// - Throws: `unsupported` with the missing algorithm.
    package init(_ provider: any GroupProvider, random: RandomSource? = nil) throws(StorageError) {
        try provider.require(KeyDerivationFunction.hkdfSHA256.rawValue, "\(KeyDerivationFunction.hkdfSHA256)")
        try provider.require(KeyAgreement.x25519.rawValue, "\(KeyAgreement.x25519), which sync groups need")
        guard provider.offers(.ed25519) else {
            throw StorageError(
                .unsupported,
                "the crypto provider '\(provider.component)' does not offer Ed25519, which sync groups need",
                hint: "choose one that does with: ld-host config set encryption.provider ID; see: ld-host plugins list")
        }
        // The first is the one that every provider has, so that members with different ones read each other.
        let ciphers: [AuthenticatedCipher] = [.chaCha20Poly1305, .aes256GCM, .xChaCha20Poly1305]
        guard let cipher = ciphers.first(where: provider.offers) else {
            throw StorageError(
                .unsupported, "the crypto provider '\(provider.component)' offers no cipher that sync groups can use")
        }
        self.provider = provider
        self.cipher = cipher
        randomSource = random
    }
}

// MARK: - Hashes and derived keys

extension GroupCrypto {
    /// A collision-resistant hash of 32 bytes: HKDF-SHA256 with the data as the secret, the label as the salt and no
    /// info, which is HMAC(HMAC(label, data), 01).
    func hash(_ data: Data, _ label: GroupLabel) throws(StorageError) -> Data {
        let (hash, failure) = filled(Self.size) { (output) throws(StorageError) in
            try data.withBuffer { (data) throws(StorageError) in
                try label.bytes.withBuffer { (label) throws(StorageError) in
                    try provider.deriveHKDF(from: data, salt: label, info: .init(start: nil, count: 0), into: output)
                }
            }
        }
        if let failure { throw failure }
        return hash
    }

    /// Derives from a key: HKDF-SHA256 with this salt, and with the label and `context` as the info.
    func derive(
        from key: SecretBytes, _ label: GroupLabel, _ context: some Collection<UInt8> = EmptyCollection<UInt8>(),
        salt: Data = Data(), into output: UnsafeMutableRawBufferPointer
    ) throws(StorageError) {
        try salt.withBuffer { (salt) throws(StorageError) in
            try derive(from: key, label, context, salt: salt, into: output)
        }
    }

    private func derive(
        from key: SecretBytes, _ label: GroupLabel, _ context: some Collection<UInt8>, salt: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(StorageError) {
        let name = label.rawValue.utf8
        let outcome: Result<Void, StorageError> = withUnsafeTemporaryAllocation(
            byteCount: name.count + context.count, alignment: 1
        ) { info in
            defer { clear(info) }
            info.copyBytes(from: name)
            UnsafeMutableRawBufferPointer(rebasing: info[name.count...]).copyBytes(from: context)
            do throws(StorageError) {
                return .success(
                    try key.withBytes { (key) throws(StorageError) in
                        try provider.deriveHKDF(
                            from: key, salt: salt, info: UnsafeRawBufferPointer(info), into: output)
                    })
            } catch { return .failure(error) }
        }
        try outcome.get()
    }

    /// A derived key of 32 bytes.
    func key(
        from key: SecretBytes, _ label: GroupLabel, _ context: some Collection<UInt8> = EmptyCollection<UInt8>(),
        salt: Data = Data()
    ) throws(StorageError) -> SecretBytes {
        try SecretBytes(count: Self.size) { (output) throws(StorageError) in
            try derive(from: key, label, context, salt: salt, into: output)
        }
    }

    /// A derived value that is no secret.
    func value(
        _ count: Int, from key: SecretBytes, _ label: GroupLabel,
        _ context: some Collection<UInt8> = EmptyCollection<UInt8>()
    ) throws(StorageError) -> Data {
        let (value, failure) = filled(count) { (output) throws(StorageError) in
            try derive(from: key, label, context, into: output)
        }
        if let failure { throw failure }
        return value
    }

    /// A new random key.
    func randomKey(_ count: Int = size) throws(StorageError) -> SecretBytes {
        try SecretBytes(count: count) { (memory) throws(StorageError) in try fillRandomly(memory) }
    }

    private func fillRandomly(_ memory: UnsafeMutableRawBufferPointer) throws(StorageError) {
        if let randomSource { try randomSource(memory) } else { try provider.random(into: memory) }
    }

    /// Random bytes that are no secret.
    func random(_ count: Int) throws(StorageError) -> Data {
        let (bytes, failure) = filled(count) { (memory) throws(StorageError) in try fillRandomly(memory) }
        if let failure { throw failure }
        return bytes
    }
}

// MARK: - Signatures and agreements

extension GroupCrypto {
    /// The Ed25519 public key of a private key.
    func signingPublicKey(of privateKey: SecretBytes) throws(StorageError) -> Data {
        let (key, failure) = filled(Self.size) { (output) throws(StorageError) in
            try privateKey.withBytes { (privateKey) throws(StorageError) in
                try provider.publicKey(ofSigningKey: privateKey, for: .ed25519, into: output)
            }
        }
        if let failure { throw failure }
        return key
    }

    /// The Ed25519 signature of the label followed by the message.
    func sign(_ message: Data, _ label: GroupLabel, with privateKey: SecretBytes) throws(StorageError) -> Data {
        let (signature, failure) = filled(Self.signatureSize) { (output) throws(StorageError) in
            try Data(label.bytes + message).withBuffer { (message) throws(StorageError) in
                try privateKey.withBytes { (privateKey) throws(StorageError) in
                    try provider.sign(message, with: privateKey, by: .ed25519, into: output)
                }
            }
        }
        if let failure { throw failure }
        return signature
    }

    /// Checks a signature of the label followed by the message.
    ///
    /// - Throws: `cannotOpen` if it is wrong.
    func verify(
        _ signature: Data, of message: Data, _ label: GroupLabel, with publicKey: Data
    ) throws(StorageError) {
        try signature.withBuffer { (signature) throws(StorageError) in
            try Data(label.bytes + message).withBuffer { (message) throws(StorageError) in
                try publicKey.withBuffer { (publicKey) throws(StorageError) in
                    try provider.verify(signature, of: message, with: publicKey, by: .ed25519)
                }
            }
        }
    }

    /// The X25519 public key of a private key.
    func agreementPublicKey(of privateKey: SecretBytes) throws(StorageError) -> Data {
        let (key, failure) = filled(Self.size) { (output) throws(StorageError) in
            try privateKey.withBytes { (privateKey) throws(StorageError) in
                try provider.publicKey(of: privateKey, for: .x25519, into: output)
            }
        }
        if let failure { throw failure }
        return key
    }

    /// The X25519 shared secret.
    ///
    /// - Throws: `securityApplicationFailed` if the public key has a small order.
    func sharedSecret(of privateKey: SecretBytes, with publicKey: Data) throws(StorageError) -> SecretBytes {
        try SecretBytes(count: Self.size) { (output) throws(StorageError) in
            try privateKey.withBytes { (privateKey) throws(StorageError) in
                try publicKey.withBuffer { (publicKey) throws(StorageError) in
                    try provider.sharedSecret(of: privateKey, with: publicKey, by: .x25519, into: output)
                }
            }
        }
    }
}

// MARK: - Boxes

/// A box is sealed data:
///
///     cipher number, 1 byte | salt, 32 random bytes | ciphertext, as long as the plaintext | tag, 16 bytes
///
/// Its cipher's key and, behind it, nonce are HKDF-SHA256 of the key, with the salt as the salt, and with the label and
/// the cipher number as the info. So each box has a key of its own, no nonce comes twice under one, and every cipher is
/// used in the same way. The number is that of ``AuthenticatedCipher``.
extension GroupCrypto {
    /// The bytes that a box has more than its plaintext.
    static let boxOverhead = 1 + size + 16

    /// The cipher number of new boxes.
    var cipherNumber: UInt8 { UInt8(cipher.id) }

    /// Seals a box.
    func seal(
        _ plaintext: UnsafeRawBufferPointer, _ label: GroupLabel, with key: SecretBytes, authenticating data: Data
    ) throws(StorageError) -> Data {
        let salt = try random(Self.size)
        let (box, failure) = filled(plaintext.count + Self.boxOverhead) { (box) throws(StorageError) in
            box[0] = cipherNumber
            box[1...].copyBytes(from: salt)
            let sealed = UnsafeMutableRawBufferPointer(rebasing: box[(1 + Self.size)...])
            try salt.withBuffer { (salt) throws(StorageError) in
                try withKeyAndNonce(cipher, label, key, salt) { (key, nonce) throws(StorageError) in
                    try data.withBuffer { (data) throws(StorageError) in
                        try provider.seal(
                            plaintext, with: cipher, key: key, nonce: nonce, authenticating: data,
                            ciphertext: UnsafeMutableRawBufferPointer(rebasing: sealed.dropLast(cipher.tagSize)),
                            tag: UnsafeMutableRawBufferPointer(rebasing: sealed.suffix(cipher.tagSize)))
                    }
                }
            }
        }
        if let failure { throw failure }
        return box
    }

    /// Opens a box.
    ///
    /// - Throws: `cannotOpen` if it was not sealed with this key, label and data; `unsupported` if the provider lacks
    ///   its cipher.
    func open(
        _ box: Data, _ label: GroupLabel, with key: SecretBytes, authenticating data: Data
    ) throws(StorageError) -> Data {
        try box.withBuffer { (box) throws(StorageError) in
            try open(box, label, with: key, authenticating: Array(data))
        }
    }

    func open(
        _ box: UnsafeRawBufferPointer, _ label: GroupLabel, with key: SecretBytes, authenticating data: [UInt8]
    ) throws(StorageError) -> Data {
        let (plaintext, failure) = filled(try Self.plaintextSize(of: box.count)) { (plaintext) throws(StorageError) in
            try open(box, label, with: key, authenticating: data, into: plaintext)
        }
        if let failure { throw failure }
        return plaintext
    }

    /// Opens a box with a secret in it.
    func openSecret(
        _ box: Data, _ label: GroupLabel, with key: SecretBytes, authenticating data: Data
    ) throws(StorageError) -> SecretBytes {
        try SecretBytes(count: try Self.plaintextSize(of: box.count)) { (plaintext) throws(StorageError) in
            try box.withBuffer { (box) throws(StorageError) in
                try open(box, label, with: key, authenticating: Array(data), into: plaintext)
            }
        }
    }

    private static func plaintextSize(of box: Int) throws(StorageError) -> Int {
        guard box >= boxOverhead else {
            throw StorageError(.cannotOpen, "a box of \(box) bytes is too short; it has at least \(boxOverhead)")
        }
        return box - boxOverhead
    }

    private func open(
        _ box: UnsafeRawBufferPointer, _ label: GroupLabel, with key: SecretBytes, authenticating data: [UInt8],
        into plaintext: UnsafeMutableRawBufferPointer
    ) throws(StorageError) {
        guard let number = box.first, let cipher = AuthenticatedCipher(id: Int32(number)) else {
            throw StorageError(.cannotOpen, "a box names the cipher \(box.first ?? 0), which does not exist")
        }
        try provider.require(cipher.id, "\(cipher), which a member of the group seals with")
        let (salt, sealed) = (box[1..<1 + Self.size], box[(1 + Self.size)...])
        try withKeyAndNonce(cipher, label, key, UnsafeRawBufferPointer(rebasing: salt)) {
            (key, nonce) throws(StorageError) in
            try data.withBuffer { (data) throws(StorageError) in
                try provider.open(
                    UnsafeRawBufferPointer(rebasing: sealed.dropLast(cipher.tagSize)),
                    tag: UnsafeRawBufferPointer(rebasing: sealed.suffix(cipher.tagSize)), with: cipher, key: key,
                    nonce: nonce, authenticating: data, plaintext: plaintext)
            }
        }
    }

    private func withKeyAndNonce(
        _ cipher: AuthenticatedCipher, _ label: GroupLabel, _ key: SecretBytes, _ salt: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        let outcome: Result<Void, StorageError> = withUnsafeTemporaryAllocation(
            byteCount: cipher.keySize + cipher.nonceSize, alignment: 16
        ) { work in
            defer { clear(work) }
            do throws(StorageError) {
                try derive(from: key, label, CollectionOfOne(UInt8(cipher.id)), salt: salt, into: work)
                return .success(
                    try body(
                        UnsafeRawBufferPointer(rebasing: work[..<cipher.keySize]),
                        UnsafeRawBufferPointer(rebasing: work[cipher.keySize...])))
            } catch { return .failure(error) }
        }
        try outcome.get()
    }
}
