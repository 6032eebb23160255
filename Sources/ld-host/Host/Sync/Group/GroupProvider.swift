package import LocalDataAPI

/// What a sync group needs of a crypto provider. Inputs and outputs do not overlap.
package protocol GroupProvider: Sendable {
    /// The component's id, for errors.
    var component: String { get }

    /// Whether the provider offers a cipher.
    func offers(_ cipher: AuthenticatedCipher) -> Bool

    /// Whether the provider offers a signature algorithm.
    func offers(_ algorithm: SignatureAlgorithm) -> Bool

    /// Throws `unsupported` with the algorithm unless the provider offers it.
    func require(_ id: Int32, _ name: @autoclosure () -> String) throws(StorageError)

    /// Encrypts and authenticates. `ciphertext` is as long as `plaintext`, `tag` as the cipher's tags.
    func seal(
        _ plaintext: UnsafeRawBufferPointer, with cipher: AuthenticatedCipher, key: UnsafeRawBufferPointer,
        nonce: UnsafeRawBufferPointer, authenticating data: UnsafeRawBufferPointer,
        ciphertext: UnsafeMutableRawBufferPointer, tag: UnsafeMutableRawBufferPointer
    ) throws(StorageError)

    /// Checks the tag, then decrypts. `plaintext` is as long as `ciphertext`.
    ///
    /// - Throws: `cannotOpen` if the tag is wrong; then `plaintext` holds only zeros.
    func open(
        _ ciphertext: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer, with cipher: AuthenticatedCipher,
        key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer, authenticating data: UnsafeRawBufferPointer,
        plaintext: UnsafeMutableRawBufferPointer
    ) throws(StorageError)

    /// Derives a key that fills `key`, by HKDF-SHA256.
    func deriveHKDF(
        from secret: UnsafeRawBufferPointer, salt: UnsafeRawBufferPointer, info: UnsafeRawBufferPointer,
        into key: UnsafeMutableRawBufferPointer
    ) throws(StorageError)

    /// Fills `bytes` from a cryptographically secure generator.
    func random(into bytes: UnsafeMutableRawBufferPointer) throws(StorageError)

    /// Writes the 32 bytes of the public key of a private key.
    func publicKey(
        of privateKey: UnsafeRawBufferPointer, for agreement: KeyAgreement,
        into publicKey: UnsafeMutableRawBufferPointer
    ) throws(StorageError)

    /// Writes the 32 bytes of the shared secret.
    func sharedSecret(
        of privateKey: UnsafeRawBufferPointer, with publicKey: UnsafeRawBufferPointer, by agreement: KeyAgreement,
        into secret: UnsafeMutableRawBufferPointer
    ) throws(StorageError)

    /// Writes the 32 bytes of the public key of a private key that signs.
    func publicKey(
        ofSigningKey privateKey: UnsafeRawBufferPointer, for algorithm: SignatureAlgorithm,
        into publicKey: UnsafeMutableRawBufferPointer
    ) throws(StorageError)

    /// Writes the 64 bytes of the signature of a message, which may be empty.
    func sign(
        _ message: UnsafeRawBufferPointer, with privateKey: UnsafeRawBufferPointer, by algorithm: SignatureAlgorithm,
        into signature: UnsafeMutableRawBufferPointer
    ) throws(StorageError)

    /// Checks a signature.
    ///
    /// - Throws: `cannotOpen` if it is wrong.
    func verify(
        _ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer,
        with publicKey: UnsafeRawBufferPointer, by algorithm: SignatureAlgorithm
    ) throws(StorageError)
}
