internal import CLocalData

// The C functions of an exported provider's table. They are at file scope, so that no isolation is inferred for them.

/// Lends the provider for the duration of `body`, without counting references: the table keeps it until `close`.
@inline(__always)
private func withProvider(
    _ context: UnsafeMutableRawPointer?, _ error: UnsafePointer<ld_error_sink>?,
    _ body: (CryptoExport) throws -> Void
) -> Int32 {
    reporting(error) {
        guard let context else { throw StorageError(.unsupported, "a crypto provider was called without 'self'") }
        try Unmanaged<CryptoExport>.fromOpaque(context)._withUnsafeGuaranteedRef { try body($0) }
        return LD_OK
    }
}

extension CryptoExport {
    /// The cipher with this number, if the provider offers it and key and nonce have its sizes.
    @inline(__always)
    fileprivate func cipher(_ id: Int32, _ key: ld_bytes, _ nonce: ld_bytes) throws -> AuthenticatedCipher {
        guard offers(id), let cipher = AuthenticatedCipher(id: id) else { throw notOffered(id) }
        guard key.count == cipher.keySize, nonce.count == cipher.nonceSize else {
            throw StorageError(
                .unsupported,
                "\(cipher) takes a key of \(cipher.keySize) and a nonce of \(cipher.nonceSize) bytes; "
                    + "found \(key.count) and \(nonce.count)")
        }
        return cipher
    }

    fileprivate func agreement(_ id: Int32, _ keys: ld_bytes...) throws -> KeyAgreement {
        guard offers(id), let agreement = KeyAgreement(rawValue: id) else { throw notOffered(id) }
        guard let wrong = keys.first(where: { $0.count != 32 }) else { return agreement }
        throw StorageError(.unsupported, "\(agreement) takes keys of 32 bytes; found \(wrong.count)")
    }

    fileprivate func signature(
        _ id: Int32, _ key: ld_bytes
    ) throws -> (any SigningProvider, SignatureAlgorithm) {
        guard offers(id), let signer, let algorithm = SignatureAlgorithm(rawValue: id) else { throw notOffered(id) }
        guard key.count != 32 else { return (signer, algorithm) }
        throw StorageError(.unsupported, "\(algorithm) takes keys of 32 bytes; found \(key.count)")
    }

    fileprivate func notOffered(_ id: Int32) -> StorageError {
        StorageError(.unsupported, "the provider does not offer algorithm number \(id)")
    }
}

@inline(__always)
private func output(_ pointer: UnsafeMutableRawPointer?, _ count: Int) throws -> UnsafeMutableRawBufferPointer {
    guard pointer != nil || count == 0 else {
        throw StorageError(.unsupported, "a crypto provider was called without a buffer for its output")
    }
    return UnsafeMutableRawBufferPointer(start: pointer, count: count)
}

func sealBytes(
    context: UnsafeMutableRawPointer?, id: Int32, key: ld_bytes, nonce: ld_bytes, data: ld_bytes, plaintext: ld_bytes,
    ciphertext: UnsafeMutableRawPointer?, tag: UnsafeMutableRawPointer?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    withProvider(context, error) { provider in
        let cipher = try provider.cipher(id, key, nonce)
        guard UInt64(plaintext.count) <= cipher.largestPlaintext else {
            throw StorageError(.valueTooLarge, "\(cipher) takes at most \(cipher.largestPlaintext) bytes at once")
        }
        let sealed = try output(ciphertext, plaintext.count)
        let mark = try output(tag, cipher.tagSize)
        var sealedSpan = sealed.mutableBytes
        var markSpan = mark.mutableBytes
        try provider.provider.seal(
            plaintext.bytes().bytes, with: cipher, key: key.bytes().bytes, nonce: nonce.bytes().bytes,
            authenticating: data.bytes().bytes, ciphertext: &sealedSpan, tag: &markSpan)
    }
}

func openBytes(
    context: UnsafeMutableRawPointer?, id: Int32, key: ld_bytes, nonce: ld_bytes, data: ld_bytes, ciphertext: ld_bytes,
    tag: ld_bytes, plaintext: UnsafeMutableRawPointer?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    withProvider(context, error) { provider in
        let cipher = try provider.cipher(id, key, nonce)
        guard tag.count == cipher.tagSize else {
            throw StorageError(.unsupported, "\(cipher) has tags of \(cipher.tagSize) bytes; found \(tag.count)")
        }
        guard UInt64(ciphertext.count) <= cipher.largestPlaintext else {
            throw StorageError(.valueTooLarge, "\(cipher) takes at most \(cipher.largestPlaintext) bytes at once")
        }
        let opened = try output(plaintext, ciphertext.count)
        var span = opened.mutableBytes
        do {
            try provider.provider.open(
                ciphertext.bytes().bytes, tag: tag.bytes().bytes, with: cipher, key: key.bytes().bytes,
                nonce: nonce.bytes().bytes, authenticating: data.bytes().bytes, plaintext: &span)
        } catch {
            // Whatever the provider wrote there: unverified plaintext never leaves.
            opened.clear()
            throw error
        }
    }
}

func deriveBytes(
    context: UnsafeMutableRawPointer?, id: Int32, parameters: UnsafePointer<ld_derivation>?,
    key: UnsafeMutableRawPointer?, count: Int, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    withProvider(context, error) { provider in
        guard let algorithm = provider.sizes[id], let function = KeyDerivationFunction(rawValue: id) else {
            throw provider.notOffered(id)
        }
        var known = ld_derivation()
        guard BoundaryStruct.copy(parameters, into: &known, least: ld_derivation_least_size) else {
            throw StorageError(.unsupported, "derive was called without its parameters")
        }
        guard count > 0, UInt64(count) <= algorithm.largest else {
            throw StorageError(.unsupported, "\(function) derives 1 to \(algorithm.largest) bytes; asked for \(count)")
        }
        guard !function.isSlow || known.iterations > 0 else {
            throw StorageError(.unsupported, "\(function) needs at least one iteration")
        }
        let key = try output(key, count)
        var span = key.mutableBytes
        try provider.provider.derive(function, known, &span)
    }
}

func randomBytes(
    context: UnsafeMutableRawPointer?, bytes: UnsafeMutableRawPointer?, count: Int,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    withProvider(context, error) { provider in
        let bytes = try output(bytes, count)
        var span = bytes.mutableBytes
        try provider.provider.random(into: &span)
    }
}

func publicKeyBytes(
    context: UnsafeMutableRawPointer?, id: Int32, privateKey: ld_bytes, publicKey: UnsafeMutableRawPointer?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    withProvider(context, error) { provider in
        let agreement = try provider.agreement(id, privateKey)
        let publicKey = try output(publicKey, 32)
        var span = publicKey.mutableBytes
        try provider.provider.publicKey(of: privateKey.bytes().bytes, for: agreement, into: &span)
    }
}

func sharedSecretBytes(
    context: UnsafeMutableRawPointer?, id: Int32, privateKey: ld_bytes, publicKey: ld_bytes,
    secret: UnsafeMutableRawPointer?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    withProvider(context, error) { provider in
        let agreement = try provider.agreement(id, privateKey, publicKey)
        let secret = try output(secret, 32)
        var span = secret.mutableBytes
        try provider.provider.sharedSecret(
            of: privateKey.bytes().bytes, with: publicKey.bytes().bytes, by: agreement, into: &span)
    }
}

func findCryptoAbility(context: UnsafeMutableRawPointer?, id: ld_bytes) -> UnsafeRawPointer? {
    guard let context else { return nil }
    let provider = Unmanaged<CryptoExport>.fromOpaque(context).takeUnretainedValue()
    return switch id.text {
    case LD_CRYPTO_SIGNATURES where provider.signer != nil: signatureTable
    default: nil
    }
}

func closeCrypto(context: UnsafeMutableRawPointer?) {
    if let context { Unmanaged<CryptoExport>.fromOpaque(context).release() }
}

// Signatures.

// Immutable, and never freed; all exported providers that sign share it.
nonisolated(unsafe) private let signatureTable = UnsafeRawPointer(
    UnsafePointer.immortal(
        ld_crypto_signatures(
            size: UInt32(MemoryLayout<ld_crypto_signatures>.size), public_key: signingPublicKeyBytes, sign: signBytes,
            verify: verifyBytes)))

private func signingPublicKeyBytes(
    context: UnsafeMutableRawPointer?, id: Int32, privateKey: ld_bytes, publicKey: UnsafeMutableRawPointer?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    withProvider(context, error) { provider in
        let (signer, algorithm) = try provider.signature(id, privateKey)
        let publicKey = try output(publicKey, 32)
        var span = publicKey.mutableBytes
        try signer.publicKey(ofSigningKey: privateKey.bytes().bytes, for: algorithm, into: &span)
    }
}

private func signBytes(
    context: UnsafeMutableRawPointer?, id: Int32, privateKey: ld_bytes, message: ld_bytes,
    signature: UnsafeMutableRawPointer?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    withProvider(context, error) { provider in
        let (signer, algorithm) = try provider.signature(id, privateKey)
        let signature = try output(signature, 64)
        var span = signature.mutableBytes
        try signer.sign(message.bytes().bytes, with: privateKey.bytes().bytes, by: algorithm, into: &span)
    }
}

private func verifyBytes(
    context: UnsafeMutableRawPointer?, id: Int32, publicKey: ld_bytes, message: ld_bytes, signature: ld_bytes,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    withProvider(context, error) { provider in
        let (signer, algorithm) = try provider.signature(id, publicKey)
        guard signature.count == 64 else {
            throw StorageError(
                .unsupported, "\(algorithm) has signatures of 64 bytes; found \(signature.count)")
        }
        try signer.verify(
            signature.bytes().bytes, of: message.bytes().bytes, with: publicKey.bytes().bytes, by: algorithm)
    }
}
