internal import CLocalData
package import LocalDataAPI

extension LoadedCrypto {
    /// Whether the provider offers a signature algorithm.
    package func offers(_ algorithm: SignatureAlgorithm) -> Bool {
        signatures != nil && algorithms[algorithm.rawValue] != nil
    }

    /// Writes the 32 bytes of the public key of a private key.
    ///
    /// - Throws: `unsupported` if the provider does not offer the algorithm, or the key has another size.
    package func publicKey(
        ofSigningKey privateKey: UnsafeRawBufferPointer, for algorithm: SignatureAlgorithm,
        into publicKey: UnsafeMutableRawBufferPointer
    ) throws(StorageError) {
        precondition(publicKey.count == 32)
        let signatures = try signatures(for: algorithm)
        try call("signing public_key") {
            signatures.public_key(
                table.`self`, algorithm.rawValue, ld_bytes(privateKey), publicKey.baseAddress, $0)
        }
    }

    /// Writes the 64 bytes of the signature of a message, which may be empty.
    package func sign(
        _ message: UnsafeRawBufferPointer, with privateKey: UnsafeRawBufferPointer, by algorithm: SignatureAlgorithm,
        into signature: UnsafeMutableRawBufferPointer
    ) throws(StorageError) {
        precondition(signature.count == 64)
        let signatures = try signatures(for: algorithm)
        try call("sign") {
            signatures.sign(
                table.`self`, algorithm.rawValue, ld_bytes(privateKey), ld_bytes(message), signature.baseAddress, $0)
        }
    }

    /// Checks a signature.
    ///
    /// - Throws: `cannotOpen` if it is wrong.
    package func verify(
        _ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer,
        with publicKey: UnsafeRawBufferPointer, by algorithm: SignatureAlgorithm
    ) throws(StorageError) {
        let signatures = try signatures(for: algorithm)
        try call("verify") {
            signatures.verify(
                table.`self`, algorithm.rawValue, ld_bytes(publicKey), ld_bytes(message), ld_bytes(signature), $0)
        }
    }

    private func signatures(for algorithm: SignatureAlgorithm) throws(StorageError) -> ld_crypto_signatures {
        try require(algorithm.rawValue, "\(algorithm)")
        guard let signatures else {
            throw StorageError(
                .unsupported, "the crypto provider '\(component)' lists \(algorithm) but lacks its functions",
                hint: "choose another one with: ld-host config set encryption.provider ID; see: ld-host plugins test")
        }
        return signatures
    }
}
