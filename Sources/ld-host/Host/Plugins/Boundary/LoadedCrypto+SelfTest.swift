internal import LocalDataAPI

/// Known answers: the results of each algorithm for fixed inputs. A faulty provider could store values in plain, or in
/// a form that no other provider opens, and nothing else would notice.
///
/// Two implementations that share no code computed the answers: the envelope's reference in
/// `Tests/EnvelopeTests/Reference`, and pyca/cryptography 48 (XChaCha20-Poly1305 only by the reference, which passes
/// the vectors of draft-irtf-cfrg-xchacha-03).
extension LoadedCrypto {
    /// Runs each algorithm that the provider offers and the host uses, with minimal parameters.
    ///
    /// - Throws: `pluginRefused` with the provider and the algorithm whose answer is wrong.
    func checkKnownAnswers() throws(StorageError) {
        // A provider that fails with an error reports that to the caller, and seals nothing.
        for cipher in AuthenticatedCipher.all where offers(cipher) {
            if let isRight = try? hasKnownAnswer(cipher), !isRight { throw wrong("\(cipher)") }
        }
        for function in KeyDerivationFunction.allCases where offers(function) {
            if let isRight = try? hasKnownAnswer(function), !isRight { throw wrong("\(function)") }
        }
        for algorithm in SignatureAlgorithm.allCases where offers(algorithm) {
            if let isRight = try? hasKnownAnswer(algorithm), !isRight { throw wrong("\(algorithm)") }
        }
        let (first, second) = (try drawn(), try drawn())
        guard first != second else { throw wrong("its random numbers") }
    }

    private func wrong(_ algorithm: String) -> StorageError {
        StorageError(
            .pluginRefused,
            "the crypto provider '\(component)' does not compute \(algorithm) as its standard says; nothing is sealed or "
                + "opened with it",
            hint: "choose another one with: ld-host config set encryption.provider ID; see: ld-host plugins test")
    }

    private func hasKnownAnswer(_ cipher: AuthenticatedCipher) throws(StorageError) -> Bool {
        let plaintext = KnownAnswer.plaintext
        let expected = KnownAnswer.sealed(cipher)
        let nonce = Array(32..<UInt8(32 + cipher.nonceSize))
        let isRight: Result<Bool, StorageError> = withBytes(KnownAnswer.key, nonce, KnownAnswer.data) {
            key, nonce, data in
            var sealed = [UInt8](repeating: 0, count: plaintext.count + cipher.tagSize)
            var opened = [UInt8](repeating: 0, count: plaintext.count)
            do throws(StorageError) {
                try sealed.split(at: plaintext.count) { (ciphertext, tag) throws(StorageError) in
                    try plaintext.lent { (plaintext) throws(StorageError) in
                        try seal(
                            plaintext, with: cipher, key: key, nonce: nonce, authenticating: data,
                            ciphertext: ciphertext, tag: tag)
                    }
                }
                guard sealed == expected else { return .success(false) }
                for isForged in [false, true] {
                    if isForged { sealed[sealed.count - 1] ^= 1 }
                    do throws(StorageError) {
                        try sealed.split(at: plaintext.count) { (ciphertext, tag) throws(StorageError) in
                            try opened.split(at: plaintext.count) { (plaintext, _) throws(StorageError) in
                                try open(
                                    UnsafeRawBufferPointer(ciphertext), tag: UnsafeRawBufferPointer(tag), with: cipher,
                                    key: key, nonce: nonce, authenticating: data, plaintext: plaintext)
                            }
                        }
                        // The provider must notice a wrong tag.
                        if isForged || opened != plaintext { return .success(false) }
                    } catch {
                        guard isForged, error.code == .cannotOpen else { throw error }
                    }
                }
                return .success(true)
            } catch { return .failure(error) }
        }
        return try isRight.get()
    }

    private func hasKnownAnswer(_ function: KeyDerivationFunction) throws(StorageError) -> Bool {
        let salt = Array(UInt8(32)..<48)
        let isRight: Result<Bool, StorageError> = withBytes(KnownAnswer.key, salt, KnownAnswer.data) {
            key, salt, data in
            var derived = [UInt8](repeating: 0, count: 32)
            do throws(StorageError) {
                try derived.split(at: 32) { (output, _) throws(StorageError) in
                    switch function {
                    case .hkdfSHA256, .hkdfSHA512:
                        try derive(function, from: key, salt: .init(start: nil, count: 0), info: data, into: output)
                    case .pbkdf2HMACSHA256, .pbkdf2HMACSHA512:
                        try derive(function, from: key, salt: salt, iterations: 2, into: output)
                    case .argon2id:
                        try derive(
                            function, from: key, salt: salt, iterations: 1, memory: 8 << 10, lanes: 1, into: output)
                    }
                }
                return .success(derived == KnownAnswer.derived(function))
            } catch { return .failure(error) }
        }
        return try isRight.get()
    }

    private func hasKnownAnswer(_ algorithm: SignatureAlgorithm) throws(StorageError) -> Bool {
        let publicKey = KnownAnswer.publicKey(algorithm)
        var signed = [UInt8](repeating: 0, count: 32 + 64)
        try signed.split(at: 32) { (publicKey, signature) throws(StorageError) in
            try KnownAnswer.key.lent { (key) throws(StorageError) in
                try self.publicKey(ofSigningKey: key, for: algorithm, into: publicKey)
                try KnownAnswer.plaintext.lent { (message) throws(StorageError) in
                    try sign(message, with: key, by: algorithm, into: signature)
                }
            }
        }
        guard signed == publicKey + KnownAnswer.signature(algorithm) else { return false }
        let signature = Array(signed[32...])
        let verifiesForged = try verifies(KnownAnswer.data, signature, publicKey, algorithm)
        let verifiesRight = try verifies(KnownAnswer.plaintext, signature, publicKey, algorithm)
        return verifiesRight && !verifiesForged
    }

    private func verifies(
        _ message: [UInt8], _ signature: [UInt8], _ publicKey: [UInt8], _ algorithm: SignatureAlgorithm
    ) throws(StorageError) -> Bool {
        do throws(StorageError) {
            try message.lent { (message) throws(StorageError) in
                try signature.lent { (signature) throws(StorageError) in
                    try publicKey.lent { (publicKey) throws(StorageError) in
                        try verify(signature, of: message, with: publicKey, by: algorithm)
                    }
                }
            }
            return true
        } catch {
            guard error.code == .cannotOpen else { throw error }
            return false
        }
    }

    private func drawn() throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        try bytes.split(at: 32) { (bytes, _) throws(StorageError) in try random(into: bytes) }
        return bytes
    }
}

extension [UInt8] {
    /// Lends the bytes before and after an offset.
    fileprivate mutating func split(
        at offset: Int,
        _ body: (UnsafeMutableRawBufferPointer, UnsafeMutableRawBufferPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        let failure: StorageError? = withUnsafeMutableBytes { bytes in
            do throws(StorageError) {
                try body(
                    UnsafeMutableRawBufferPointer(rebasing: bytes[..<offset]),
                    UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]))
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    fileprivate func lent(
        _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        let failure: StorageError? = withUnsafeBytes { bytes in
            do throws(StorageError) {
                try body(bytes)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }
}

private func withBytes<Value>(
    _ first: [UInt8], _ second: [UInt8], _ third: [UInt8],
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Value
) -> Value {
    first.withUnsafeBytes { first in
        second.withUnsafeBytes { second in third.withUnsafeBytes { third in body(first, second, third) } }
    }
}
