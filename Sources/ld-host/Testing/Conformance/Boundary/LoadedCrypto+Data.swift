package import FoundationEssentials
package import HostPlugins
package import LocalDataAPI

/// A provider's calls on whole values. They zero nothing: for vectors and checks, not for secrets.
extension LoadedCrypto {
    /// Encrypts and authenticates.
    package func seal(
        _ plaintext: Data, with cipher: AuthenticatedCipher, key: Data, nonce: Data, authenticating data: Data
    ) throws(StorageError) -> (ciphertext: Data, tag: Data) {
        var ciphertext = Data(count: plaintext.count)
        var tag = Data(count: cipher.tagSize)
        try ciphertext.lendMutably { (ciphertext) throws(StorageError) in
            try tag.lendMutably { (tag) throws(StorageError) in
                try plaintext.lend { (plaintext) throws(StorageError) in
                    try Data.lend(key, nonce, data) { (key, nonce, data) throws(StorageError) in
                        try seal(
                            plaintext, with: cipher, key: key, nonce: nonce, authenticating: data,
                            ciphertext: ciphertext, tag: tag)
                    }
                }
            }
        }
        return (ciphertext, tag)
    }

    /// Checks the tag and decrypts into `plaintext`, which afterwards is as long as `ciphertext`, even if this throws.
    package func open(
        _ ciphertext: Data, tag: Data, with cipher: AuthenticatedCipher, key: Data, nonce: Data,
        authenticating data: Data, into plaintext: inout Data
    ) throws(StorageError) {
        // Not zeros, so that bytes that a provider leaves there are visible.
        plaintext = Data(repeating: 0xa5, count: ciphertext.count)
        try plaintext.lendMutably { (plaintext) throws(StorageError) in
            try Data.lend(ciphertext, tag, data) { (ciphertext, tag, data) throws(StorageError) in
                try Data.lend(key, nonce, Data()) { (key, nonce, _) throws(StorageError) in
                    try open(
                        ciphertext, tag: tag, with: cipher, key: key, nonce: nonce, authenticating: data,
                        plaintext: plaintext)
                }
            }
        }
    }

    /// Checks the tag and decrypts.
    package func open(
        _ ciphertext: Data, tag: Data, with cipher: AuthenticatedCipher, key: Data, nonce: Data,
        authenticating data: Data
    ) throws(StorageError) -> Data {
        var plaintext = Data()
        try open(
            ciphertext, tag: tag, with: cipher, key: key, nonce: nonce, authenticating: data, into: &plaintext)
        return plaintext
    }

    /// Derives `count` bytes.
    package func derive(
        _ function: KeyDerivationFunction, from secret: Data, salt: Data, info: Data = Data(), iterations: UInt64 = 0,
        memory: UInt64 = 0, lanes: UInt32 = 0, count: Int
    ) throws(StorageError) -> Data {
        var key = Data(count: count)
        try key.lendMutably { (key) throws(StorageError) in
            try Data.lend(secret, salt, info) { (secret, salt, info) throws(StorageError) in
                try derive(
                    function, from: secret, salt: salt, info: info, iterations: iterations, memory: memory,
                    lanes: lanes, into: key)
            }
        }
        return key
    }

    /// Random bytes.
    package func random(_ count: Int) throws(StorageError) -> Data {
        var bytes = Data(count: count)
        try bytes.lendMutably { (bytes) throws(StorageError) in try random(into: bytes) }
        return bytes
    }

    /// The public key of a private key.
    package func publicKey(of privateKey: Data, for agreement: KeyAgreement) throws(StorageError) -> Data {
        var publicKey = Data(count: 32)
        try publicKey.lendMutably { (publicKey) throws(StorageError) in
            try privateKey.lend { (privateKey) throws(StorageError) in
                try self.publicKey(of: privateKey, for: agreement, into: publicKey)
            }
        }
        return publicKey
    }

    /// The shared secret.
    package func sharedSecret(
        of privateKey: Data, with publicKey: Data, by agreement: KeyAgreement
    ) throws(StorageError) -> Data {
        var secret = Data(count: 32)
        try secret.lendMutably { (secret) throws(StorageError) in
            try Data.lend(privateKey, publicKey, Data()) { (privateKey, publicKey, _) throws(StorageError) in
                try sharedSecret(of: privateKey, with: publicKey, by: agreement, into: secret)
            }
        }
        return secret
    }

    /// The public key of a private key that signs.
    package func publicKey(
        ofSigningKey privateKey: Data, for algorithm: SignatureAlgorithm
    ) throws(StorageError) -> Data {
        var publicKey = Data(count: 32)
        try publicKey.lendMutably { (publicKey) throws(StorageError) in
            try privateKey.lend { (privateKey) throws(StorageError) in
                try self.publicKey(ofSigningKey: privateKey, for: algorithm, into: publicKey)
            }
        }
        return publicKey
    }

    /// The signature of a message.
    package func sign(
        _ message: Data, with privateKey: Data, by algorithm: SignatureAlgorithm
    ) throws(StorageError) -> Data {
        var signature = Data(count: 64)
        try signature.lendMutably { (signature) throws(StorageError) in
            try Data.lend(message, privateKey, Data()) { (message, privateKey, _) throws(StorageError) in
                try sign(message, with: privateKey, by: algorithm, into: signature)
            }
        }
        return signature
    }

    /// Checks a signature; throws `cannotOpen` if it is wrong.
    package func verify(
        _ signature: Data, of message: Data, with publicKey: Data, by algorithm: SignatureAlgorithm
    ) throws(StorageError) {
        try Data.lend(signature, message, publicKey) { (signature, message, publicKey) throws(StorageError) in
            try verify(signature, of: message, with: publicKey, by: algorithm)
        }
    }
}

extension Data {
    /// `withUnsafeBytes` with a typed error.
    fileprivate func lend<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let outcome: Swift.Result<Result, Failure> = withUnsafeBytes { bytes in
            do throws(Failure) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    fileprivate static func lend<Result, Failure: Error>(
        _ first: Data, _ second: Data, _ third: Data,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try first.lend { (first) throws(Failure) in
            try second.lend { (second) throws(Failure) in
                try third.lend { (third) throws(Failure) in try body(first, second, third) }
            }
        }
    }

    /// `withUnsafeMutableBytes` with a typed error.
    fileprivate mutating func lendMutably<Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        let outcome: Swift.Result<Void, Failure> = withUnsafeMutableBytes { bytes in
            do throws(Failure) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        try outcome.get()
    }
}
